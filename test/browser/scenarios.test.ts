// timeout: 400 s
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// The page of scenarios: what waits for a skill gets one, is set, rehearsed, run and turned on; what failed is run again or
// let go; a kid and a guest see what is theirs.
import type { Browser, Locator, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import type { House } from '../../services/cli/house/house.ts';
import { check, faults, violations } from '../lab/browser/check.ts';
import { home } from '../lab/browser/home.ts';
import { answer, approve, askHub, at, online, type Phone, phone, press, shot } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';

/** Has a loudness that can be set, unless it is told to refuse. */
const chime = {
  manifest: checkManifest({
    id: 'chime',
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: { title: 'Chime', modes: ['modal'], schema: 'ui/v0' },
      actions: {
        set: {
          title: 'Set the loudness',
          doc: 'Sets how loud it is.',
          input: {
            type: 'object',
            properties: { percent: { type: 'number' } },
            required: ['percent'],
            additionalProperties: false,
          },
          safe: false,
        },
      },
    },
  }),
  code: {
    text: `let broken = false; const set = [];
    export const skill = { start: (ctx) => ({
      attached(owner) {
        ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: 'Chime' } });
        ctx.setState(owner, {});
      },
      endpoints: [
        { method: 'POST', path: '/v1/actions/set', answer: ({ body }) => {
          if (broken) return { status: 409, body: { error: 'conflict', message: 'The chime is stuck.' } };
          set.push(body.percent);
          return { body: { percent: body.percent } };
        } },
        { method: 'POST', path: '/v1/break', answer: ({ body }) => { broken = body.on; return { body: { set } }; } },
      ],
    }) };`,
  },
};

/** Another that fits as well, so that somebody has to choose. */
const bell = structuredClone(chime);
Object.assign(bell.manifest, { id: 'bell' });
bell.manifest.capabilities.ui!.title = 'Bell';

let house: House;
let browser: Browser;
let owner: Phone;
const rooms = home(test);
test.before(async () => {
  [house, browser, owner] = await rooms.paired({
    house: { installed: [chime, bell] },
    phone: { still: true },
  });
});

const win = (page: Page) => page.locator('[data-window="@scenarios"]');
const item = (page: Page, id: string) => win(page).locator(`[data-scenario="${id}"]`);
const tab = (page: Page, name: string) => win(page).getByRole('tab', { name });
const stands = (page: Page, state: string) => win(page).locator(`[data-stands="${state}"]`).waitFor();
const back = (page: Page) => win(page).locator('.body button.quiet').first().click();
async function open(page: Page, menu = 'Menu', name = 'Scenarios'): Promise<void> {
  await press(page, menu);
  await page.locator('.menu').getByRole('button', { name, exact: true }).click();
  await win(page).locator('[data-scenario], .v-empty').first().waitFor();
}
/** From wherever one is back to the list. */
async function tabs(page: Page): Promise<void> {
  while ((await tab(page, 'Scenarios').count()) === 0) await back(page);
  await tab(page, 'Scenarios').click();
}
async function breakChime(on: boolean): Promise<number[]> {
  const r = await askHub(house, '/skills/chime/v1/break', { method: 'POST', body: { on } });
  assert.is(r.status, 200, await r.clone().text());
  return ((await r.json()) as { set: number[] }).set;
}
/** The page in both themes, as axe and a ruler find it. */
async function both(page: Page, name: string): Promise<void> {
  await check(page, `scenarios-${name}`);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await check(page, `scenarios-${name}-dark`);
  const all = await violations(page);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  assert.equal(all, [], name);
}

test('what waits for a skill stands first, and gets one in its settings', async () => {
  const { page } = owner;
  await open(page);
  const first = win(page).locator('section').first();
  await first.getByRole('heading', { name: 'What needs you first' }).waitFor();
  await both(page, '1-list');
  const quiet = item(page, 'home/quiet_hours');
  assert.is(await quiet.getByRole('button', { name: /Run now/ }).count(), 0, 'it would be refused');
  assert.match((await quiet.textContent())!, /every day at 10:00\sPM|every day at 22:00/);
  await quiet.getByRole('button', { name: /Choose a skill/ }).click();
  await win(page).locator('#slot-sound').selectOption({ label: 'Chime' });
  await win(page)
    .getByRole('button', { name: /Run now/ })
    .waitFor();
});

test('a slot for which one skill fits has it by itself, and the page says so', async () => {
  const { page } = owner;
  await tabs(page);
  await item(page, 'home/weather_on_request')
    .getByRole('button', { name: /Settings/ })
    .click();
  const slot = win(page).locator('#slot-weather');
  await slot.waitFor();
  assert.match((await slot.locator('option:checked').textContent())!, /^by itself: Weather$/);
  await win(page).getByText('It is the only one here that fits').waitFor();
  await tabs(page);
  await item(page, 'home/quiet_hours')
    .getByRole('button', { name: /Settings/ })
    .click();
  await win(page).locator('#slot-sound').waitFor();
});

test('a parameter is changed by a control of its kind, and what is no number is told', async () => {
  const { page } = owner;
  const night = win(page).getByLabel('Loudness at night, percent.');
  const form = win(page).locator('form', { has: page.locator('#params') });
  const save = form.getByRole('button', { name: 'Save' });
  assert.is(await save.isDisabled(), true, 'nothing has changed');
  await night.fill('much');
  await win(page).getByText('Write a number').waitFor();
  assert.is(await save.isDisabled(), true);
  await night.fill('12');
  await win(page).getByLabel('How long it stays quiet.').fill('2s');
  await both(page, '2-settings');
  await save.click();
  await form.getByRole('button', { name: 'Back to how it was made' }).waitFor();
  assert.is(await night.inputValue(), '12');
  const kept = await askHub(house, '/api/scenarios/impl/me/home.quiet_hours');
  const { implementation } = (await kept.json()) as { implementation: { params: object } };
  assert.equal(implementation.params, { night: 12, hours: '2s' });
});

test('how it answers is chosen among its own ways, and a step that nothing needs is left out and used again', async () => {
  const { page } = owner;
  const changed = async () => {
    const r = await askHub(house, '/api/scenarios/impl/me/home.good_night');
    return ((await r.json()) as { implementation: { io?: object; rewrite?: object[] } }).implementation;
  };
  await tabs(page);
  await item(page, 'home/good_night')
    .getByRole('button', { name: /Settings/ })
    .click();
  const form = win(page).locator('form', { has: page.locator('#io') });
  const where = form.getByLabel('How it answers first');
  await where.waitFor();
  assert.equal(await where.locator('option').allInnerTexts(), ['by voice', 'on the console']);
  await where.selectOption({ label: 'on the console' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('button', { name: 'Back to how it was made' }).waitFor();
  assert.equal((await changed()).io, { settings: { 'output.active': 'console' } });
  await win(page).getByRole('button', { name: 'Show all 4' }).click();
  const step = (id: string) => win(page).locator(`[data-step="${id}"]`);
  await step('lights').getByRole('button').click();
  await win(page).getByText('a place where skills take part, needs it').waitFor();
  await step('bye')
    .getByRole('button', { name: /^Leave out/ })
    .click();
  const isOut = (id: string) => win(page).locator(`[data-step="${id}"][data-out="true"]`);
  await isOut('bye').waitFor();
  assert.match(
    await isOut('bye').locator('span').innerText(),
    /^Left out: “Good night\.”$/,
    'in words, as it was before',
  );
  assert.equal((await changed()).rewrite, [{ action: 'drop', match: { id: 'bye' } }]);
  await isOut('bye').scrollIntoViewIfNeeded();
  await both(page, '16-steps');
  await isOut('bye')
    .getByRole('button', { name: /^Use again/ })
    .click();
  await until(async () => (await changed()).rewrite?.length === 0, 'the step to be used again');
  await tabs(page);
  await item(page, 'home/quiet_hours')
    .getByRole('button', { name: /Settings/ })
    .click();
  await win(page).locator('#slot-sound').waitFor();
});

test('a secret and a device are given by name, kept without being shown, and forgotten', async () => {
  const { page } = owner;
  const order = (path: string, body: object) => askHub(house, path, { method: 'POST', body });
  await order('/api/skills/developer', { on: true });
  const headers = { authorization: '${secret.key}', 'x-gate': '${device.gate}' };
  const args = { url: 'https://x.example/', headers };
  const prototype = {
    ...{ id: 'home/gate', version: '1.0.0', dslVersion: '1', name: 'The gate', hosts: ['x.example'] },
    steps: [{ id: 'a', call: 'http.fetch', args }],
  };
  const pushed = await order('/api/scenarios/push', { prototype });
  assert.is(pushed.status, 200, await pushed.clone().text());
  await tabs(page);
  await item(page, 'home/gate')
    .getByRole('button', { name: /Settings/ })
    .click();
  const form = win(page).locator('form', { has: page.locator('#sealed') });
  const save = form.getByRole('button', { name: 'Save' });
  await form.getByText('Not set yet. Steps that need it').waitFor();
  assert.ok(await save.isDisabled());
  await form.locator('#secrets-key').fill('hunter2');
  await form.locator('#devices-gate').fill('gate-7');
  await both(page, '15-sealed');
  await save.click();
  await form.getByText('The hub keeps it and shows it').waitFor();
  await form.getByText('The hub keeps its id').waitFor();
  assert.is(await form.locator('#secrets-key').inputValue(), '');
  assert.not.match(await page.content(), /hunter2|gate-7/);
  await form.getByRole('button', { name: 'Forget key' }).click();
  await form.getByText('Not set yet. Steps that need it').waitFor();
  // The other one has stayed.
  await form.getByText('The hub keeps its id').waitFor();
  await order('/api/scenarios/uninstall', { id: 'home/gate' });
  await tabs(page);
  await item(page, 'home/quiet_hours')
    .getByRole('button', { name: /Settings/ })
    .click();
  await win(page).locator('#slot-sound').waitFor();
});

test('it is planned for once and for days of the week, and that can be taken back', async () => {
  const { page } = owner;
  const jobs = async () => {
    const { jobs } = (await (await askHub(house, '/api/schedule/list')).json()) as {
      jobs: { scenario_id: string; job_id: string; cron: string | null; at: number | null }[];
    };
    return jobs.filter((j) => j.scenario_id === 'home/quiet_hours' && !j.job_id.startsWith('trigger.'));
  };
  const plan = win(page).locator('[data-plan]');
  const send = plan.getByRole('button', { name: 'Plan it so' });
  assert.is(await send.isDisabled(), true, 'there is no time yet');
  await plan.getByLabel('Day and time').fill('2020-01-01T10:00');
  assert.is(await send.isDisabled(), true, 'that is over');
  await plan.getByLabel('Day and time').fill('2031-05-06T10:30');
  await send.click();
  await until(async () => (await jobs()).length === 1, 'the job');
  await win(page)
    .getByRole('button', { name: /^Take it back/ })
    .first()
    .waitFor();
  await plan.getByLabel('Plan it').selectOption({ label: 'on some days of the week' });
  await plan.getByLabel('Time').fill('07:05');
  await plan.getByLabel('Monday').uncheck();
  await plan.getByLabel('Sunday').check();
  await both(page, '2-plan');
  await send.click();
  await until(async () => (await jobs()).length === 2, 'the second job');
  assert.ok(
    (await jobs()).some((j) => j.cron === '5 7 * * 0,2,3,4,5'),
    JSON.stringify(await jobs()),
  );
  for (const { job_id } of await jobs())
    await askHub(house, '/api/schedule/delete', { method: 'POST', body: { job_id } });
});

test('a rehearsal tells each step in words and does nothing', async () => {
  const { page } = owner;
  await win(page).getByRole('button', { name: 'Show the steps' }).click();
  const steps = win(page).locator('ol.would li');
  await steps.first().waitFor();
  assert.equal(await steps.allInnerTexts(), [
    'Says “Quiet hours begin.”',
    'Sound: set',
    'Waits for 2 seconds',
    'Sound: set',
    'Ends',
  ]);
  assert.equal(await breakChime(false), []);
});

test('a run is watched as it goes, step by step, to its end', async () => {
  const { page } = owner;
  await win(page)
    .getByRole('button', { name: /Run now/ })
    .click();
  await win(page).locator('ol.timeline').waitFor();
  await stands(page, 'DONE');
  const lines = await win(page).locator('ol.timeline li > span:nth-child(2)').allInnerTexts();
  assert.ok(
    lines.some((l) => /^night: waits, at most until today/.test(l)),
    lines.join('\n'),
  );
  assert.match(lines.at(-1)!, 'Finished');
  assert.equal(await breakChime(false), [12, 60]);
  await both(page, '3-run');
});

test('one that is turned on says when it fires next, and stands in the week', async () => {
  const { page } = owner;
  await back(page);
  await back(page);
  const quiet = item(page, 'home/quiet_hours');
  await quiet.getByRole('switch').press('Space');
  await quiet
    .locator('[data-next]')
    .getByText(/(today|tomorrow) (10:00\sPM|22:00)/)
    .waitFor();
  await tab(page, 'Week').click();
  const days = win(page).locator('[data-day]');
  assert.is(await days.count(), 7);
  assert.ok((await win(page).locator('[data-day] .way').count()) >= 6);
  await both(page, '4-week');
});

/** Runs the quiet hours while the chime is stuck. */
async function fail(page: Page): Promise<void> {
  await breakChime(true);
  await tab(page, 'Scenarios').click();
  await item(page, 'home/quiet_hours')
    .getByRole('button', { name: /Run now/ })
    .click();
  await stands(page, 'FAILED');
  await breakChime(false);
}

test('a run that failed says why and what to do, and goes on from the step', async () => {
  const { page } = owner;
  await fail(page);
  const why: Locator = win(page).locator('.note.bad');
  // The journal, which says where, comes after the state.
  await why.getByText(/failed here: Sound: set/).waitFor();
  assert.match((await why.textContent())!, /failed here: Sound: set[\s\S]*The chime is stuck/);
  await both(page, '5-failed');
  await win(page).getByRole('button', { name: 'Go on from the step' }).click();
  await stands(page, 'DONE');
  const told = (await win(page).locator('ol.timeline').textContent())!;
  assert.match(told, /Finished/);
  assert.equal(await breakChime(false), [12, 60, 12, 60]);
});

test('a failed run is replayed from its start, or let go after a question', async () => {
  const { page } = owner;
  await back(page);
  await back(page);
  await fail(page);
  await back(page);
  await tab(page, 'Failed').click();
  const open = win(page).locator('[data-letter]').filter({ hasText: 'Run it from its start' });
  await open.waitFor();
  await both(page, '6-dead');
  await open.getByRole('button', { name: /Run it from its start/ }).click();
  await stands(page, 'DONE');
  await back(page);
  const letters = win(page).locator('[data-letter]');
  for (let left = await letters.count(); left > 0; left--) {
    await letters
      .first()
      .getByRole('button', { name: /Let go/ })
      .click();
    assert.match(await answer(page, true), /cannot be undone/);
    await page.waitForFunction((n) => document.querySelectorAll('[data-letter]').length < n, left);
  }
  await win(page).getByText('Nothing has failed').waitFor();
});

test('a run that waits says for what, is paused, resumed and stopped', async () => {
  const { page } = owner;
  await tab(page, 'Scenarios').click();
  await item(page, 'home/medicine_reminder')
    .getByRole('button', { name: /Run now/ })
    .click();
  await win(page).getByText('It waits until external.medicine.taken is heard.').waitFor();
  await shot(page, 'scenarios-7-waits');
  await win(page).getByRole('button', { name: 'Pause' }).click();
  await win(page).getByText('paused', { exact: true }).waitFor();
  await win(page).getByRole('button', { name: 'Resume' }).click();
  await win(page).getByText('running', { exact: true }).waitFor();
  await back(page);
  const it = item(page, 'home/medicine_reminder');
  assert.is(await it.getByRole('button', { name: /Run now/ }).count(), 0, 'one at a time');
  await it.getByRole('button', { name: /Watch the run/ }).click();
  await win(page).getByRole('button', { name: 'Stop' }).click();
  await stands(page, 'CANCELED');
  await win(page).getByRole('button', { name: 'Run again' }).click();
  await win(page).getByRole('button', { name: 'It has happened' }).click();
  await stands(page, 'DONE');
});

test('one that is stopped undoes what it did, and says so', async () => {
  const { page } = owner;
  const before = await breakChime(false);
  const set = await askHub(house, '/api/scenarios/impl/me/home.quiet_hours', {
    method: 'PATCH',
    body: { params: { night: 5, hours: '9h' } },
  });
  assert.is(set.status, 200, await set.clone().text());
  await tabs(page);
  await item(page, 'home/quiet_hours')
    .getByRole('button', { name: /Run now/ })
    .click();
  await win(page).getByText('It waits for a time.').waitFor();
  await win(page).getByRole('button', { name: 'Stop' }).click();
  await stands(page, 'CANCELED');
  await win(page).getByText('Undone: Sound: set').waitFor();
  assert.equal((await breakChime(false)).slice(before.length), [5, 60]);
  await both(page, '7-undone');
  await page.keyboard.press('Escape');
});

test('by keyboard alone: found, looked through, run and left, with the focus back where it was', async () => {
  const { page } = owner;
  await win(page).waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.locator('dialog.palette input').waitFor();
  await page.keyboard.type('scenar');
  await page.keyboard.press('Enter');
  await tab(page, 'Scenarios').waitFor();
  await tab(page, 'Scenarios').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.is(await tab(page, 'Runs').getAttribute('aria-selected'), 'true');
  const run = win(page).locator('[data-run] button').first();
  await run.focus();
  await page.keyboard.press('Enter');
  await win(page).locator('ol.timeline').waitFor();
  assert.is(await page.evaluate(() => document.activeElement?.id), 'scenarios-head', 'it is heard');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await run.waitFor();
  assert.ok(await run.evaluate((b) => b === document.activeElement), 'the focus is back at the run');
  await page.keyboard.press('Escape');
  await win(page).waitFor({ state: 'detached' });
});

test('what is written to the hub begins its scenario, and one that cannot listen says so', async () => {
  const { page } = owner;
  await open(page);
  const field = win(page).getByLabel('What you would say to the hub');
  const came = (tone: string) => win(page).locator(`[data-came="${tone}"]`);
  await item(page, 'home/timer_alarm')
    .getByText(/when somebody says or writes “.*timer.*”/)
    .waitFor();
  await field.fill('Set a timer for one hour');
  await field.press('Enter');
  await came('ok').getByText('has begun').waitFor();
  assert.is(await field.inputValue(), '', 'ready for the next');
  await both(page, '16-told');
  await came('ok').getByRole('button', { name: 'Watch the run' }).click();
  await stands(page, 'RUNNING');
  await win(page).getByRole('button', { name: 'Stop' }).click();
  await stands(page, 'CANCELED');
  await tabs(page);
  // No sound service here: the microphone of a hub is heard in test/services/voice.
  await win(page).getByRole('button', { name: 'Speak' }).click();
  await came('bad').waitFor();
  assert.not.match((await came('bad').textContent())!, /undefined|internal/i);
  await win(page).getByRole('button', { name: 'Speak' }).waitFor();
  await field.fill('Make it cosy!');
  await win(page).getByRole('button', { name: 'Do it' }).click();
  await came('warn').getByText('does not know what to do with “Make it cosy!”').waitFor();
});

test('a phrase that nothing understood is taught by a choice, begins its scenario, and is forgotten', async () => {
  const { page } = owner;
  await win(page).getByRole('button', { name: 'Teach it' }).click();
  const phrase = win(page).locator('[data-phrase="make it cosy"]');
  const teach = phrase.getByRole('button', { name: /^Teach/ });
  await phrase.waitFor();
  assert.is(await teach.isDisabled(), true, 'nothing is chosen');
  await both(page, '17-phrases');
  await phrase.getByLabel('What begins with').selectOption({ label: 'Quiet hours' });
  await teach.click();
  const taught = win(page).locator('[data-taught="make it cosy"]');
  await taught.getByText('begins Quiet hours').waitFor();
  const place = () => page.evaluate(() => document.activeElement?.id);
  await until(async () => (await place()) === 'phrases', 'the focus to go on with the list');
  await both(page, '18-taught');
  const said = async () => {
    const body = { text: 'make it cosy', start: false };
    const r = await askHub(house, '/api/intent/recognize', { method: 'POST', body });
    return ((await r.json()) as { scenario_id: string }).scenario_id;
  };
  assert.is(await said(), 'home/quiet_hours');
  await taught.getByRole('button', { name: /^Forget/ }).click();
  await taught.waitFor({ state: 'detached' });
  assert.is(await said(), '');
  // The next phrase is there, and can be dismissed.
  await tabs(page);
  await tab(page, 'Phrases').click();
  await phrase.getByRole('button', { name: /^Dismiss/ }).click();
  await phrase.waitFor({ state: 'detached' });
  await win(page).getByText('Nothing to teach').waitFor();
  await page.keyboard.press('Escape');
});

test('what a scenario tells a person is shown at once, leads here, and stands behind the bell', async () => {
  const { page } = owner;
  await page.keyboard.press('Escape');
  await win(page).waitFor({ state: 'detached' });
  const told = await askHub(house, '/api/notices', {
    method: 'POST',
    body: { title: { en: 'The cake is ready', ru: 'Пирог готов' } },
  });
  assert.is(told.status, 200, await told.clone().text());
  await page.getByText('Scenarios: The cake is ready').waitFor();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await win(page).locator('[data-scenario]').first().waitFor();
  await page.keyboard.press('Escape');
  await win(page).waitFor({ state: 'detached' });
});

test('while the hub is away what was there stays, and says so', async () => {
  const { page } = owner;
  await open(page);
  await owner.context.setOffline(true);
  await win(page).getByText('The hub is not reached.').waitFor();
  assert.ok(
    await item(page, 'home/quiet_hours')
      .getByRole('button', { name: /Run now/ })
      .isDisabled(),
  );
  await shot(page, 'scenarios-8-away');
  await owner.context.setOffline(false);
  await win(page).getByText('The hub is not reached.').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
});

for (const role of ['kid', 'guest'] as const)
  test(`a ${role} sees what is theirs, and nothing that would be refused`, async () => {
    const r = await askHub(house, '/api/people', { method: 'POST', body: { name: role, role, until: 0 } });
    const { invitation } = (await r.json()) as { invitation: { link: string } };
    const theirs = await phone(browser, { still: true });
    await theirs.page.goto(invitation.link);
    await at(theirs.page, 'register');
    await press(theirs.page, 'Make a passkey');
    await approve(theirs);
    await open(theirs.page);
    const ids = await win(theirs.page)
      .locator('[data-scenario]')
      .evaluateAll((all) => all.map((x) => (x as HTMLElement).dataset['scenario']));
    const known = await askHub(house, '/api/scenarios/prototypes');
    const { prototypes } = (await known.json()) as { prototypes: { id: string; roles?: string[] }[] };
    assert.equal(ids.sort(), prototypes.flatMap((p) => (p.roles?.includes(role) ? [p.id] : [])).sort());
    assert.is(await tab(theirs.page, 'Failed').count(), 0);
    assert.is(await tab(theirs.page, 'Phrases').count(), 0, 'teaching is the owner’s');
    assert.is(await win(theirs.page).getByRole('button', { name: 'Speak' }).count(), role === 'kid' ? 1 : 0);
    if (role === 'guest') {
      assert.is(await tab(theirs.page, 'Week').count(), 0);
      assert.is(await win(theirs.page).getByRole('switch').count(), 0);
    }
    await both(theirs.page, `9-${role}`);
    await tab(theirs.page, 'Runs').click();
    await win(theirs.page).getByText('Nothing has run yet').waitFor();
    assert.equal(theirs.errors, []);
    await theirs.close();
  });

test('what an update leaves to decide stands first, until somebody has looked at it', async () => {
  const { page } = owner;
  const push = async (version: string, params: object) => {
    const steps = [{ id: 'hello', call: 'io.console.print', args: { text: 'Hello' } }];
    const prototype = { id: 'acme/greet', version, dslVersion: '1', name: 'Greeting', params, steps };
    const r = await askHub(house, '/api/scenarios/push', { method: 'POST', body: { prototype } });
    assert.is(r.status, 200, await r.clone().text());
  };
  await askHub(house, '/api/skills/developer', { method: 'POST', body: { on: true } });
  await push('1.0.0', { who: 'world', times: 2 });
  const body = { params: { who: 'Ann', times: 3 } };
  await askHub(house, '/api/scenarios/impl/me/acme.greet', { method: 'PATCH', body });
  await push('1.1.0', { times: 1 });
  await open(page);
  const greet = win(page).locator('section').first().locator('[data-scenario="acme/greet"]');
  await greet.getByText('the new version has no such parameter').waitFor();
  await both(page, '9-update');
  await greet.getByRole('button', { name: /Leave it so/ }).click();
  await item(page, 'acme/greet').locator('[data-problems]').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
});

test('in Russian, on a desk in the dark', async () => {
  const desk = await phone(browser, {
    ...{ locale: 'ru', size: { width: 1280, height: 800 }, dark: true, still: true },
  });
  const code = await house.issueCode({ newPasskey: true });
  await desk.page.goto(code.link);
  await at(desk.page, 'register');
  await press(desk.page, 'Создать ключ доступа');
  await at(desk.page, 'approve');
  await press(desk.page, 'Подтвердить');
  await at(desk.page, 'desktop');
  await online(desk.page);
  await open(desk.page, 'Меню', 'Сценарии');
  await check(desk.page, 'scenarios-10-ru-list');
  await tab(desk.page, 'Неделя').click();
  await win(desk.page).locator('[data-day]').first().waitFor();
  await check(desk.page, 'scenarios-11-ru-week');
  await tab(desk.page, 'Запуски').click();
  await win(desk.page).locator('[data-run] button').first().click();
  await win(desk.page).locator('ol.timeline').waitFor();
  await check(desk.page, 'scenarios-12-ru-run');
  await win(desk.page).getByRole('button', { name: 'Настройки' }).click();
  await win(desk.page).getByText('Что произойдёт').waitFor();
  await win(desk.page).locator('form').first().waitFor();
  await check(desk.page, 'scenarios-13-ru-one');
  assert.equal(await violations(desk.page), []);
  await desk.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await check(desk.page, 'scenarios-14-ru-desk');
  await back(desk.page);
  await back(desk.page);
  await tab(desk.page, 'Сценарии').click();
  await both(desk.page, '15-ru-desk');
  await item(desk.page, 'home/timer_alarm')
    .getByRole('button', { name: /настройки/i })
    .first()
    .click();
  const told = win(desk.page).locator('[aria-labelledby="readme"]');
  await told.locator('[lang="ru"]').getByText('«Разбуди меня через полчаса»').waitFor();
  assert.is(await told.locator('[lang="en"]').count(), 0);
  assert.equal(desk.errors, []);
  await desk.close();
});

test('nothing broke on the way', () => {
  assert.equal(faults, [], 'axe, thumbs and sideways');
  assert.equal(owner.errors, []);
});

test.run();
