// `ingle update …`: where updates stand, and the orders about them, by hand.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import { isAbsent } from '../../../firmware/system/bus-errors.ts';
import { translator } from '../../../firmware/text/i18n.ts';
import { updateText } from '../../../firmware/text/update.ts';
import { update1 } from '../../../firmware/update/contract.ts';
import { languageOf, type Say } from '../say.ts';
import { plain, when } from '../show.ts';

type Values = Readonly<Record<string, string>>;
type Text = keyof (typeof updateText)['en'];

const text = (key: string, values: Record<string, string> = {}): string =>
  Object.hasOwn(updateText.en, key)
    ? translator(updateText, languageOf(process.env))(key as Text, values)
    : key;

const look = (bus: Bus) => bus.client(update1).Status({});

/** Where there is no ingle-update, the hub runs from a checkout. */
function absent(e: unknown): never {
  throw isAbsent(e) ? new IngleError('not_supported', text('unsupported')) : e;
}

export async function updateStatus(bus: Bus, say: Say): Promise<void> {
  const { state, version, slot, detail: d } = await look(bus).catch(absent);
  say.event({ state, version, slot, ...d });
  const row = (name: string, value: string) => say.line(`  ${name.padEnd(18)}${plain(value)}`);
  say.line(text(`state_${state}`, { version: d.target || d.offer?.version || '' }));
  row(text('current'), slot ? `${version} (${slot})` : version);
  if (d.offer) row(text('available'), d.offer.version);
  if (d.previous) row(text('previous'), d.previous.version);
  if (d.percent >= 0) row(d.step || text('progress'), `${d.percent} %`);
  const r = d.result;
  if (r) {
    const time = when(r.at);
    if (r.ok)
      say.line(text(r.kind === 'rollback' ? 'wentBack' : 'updated', { from: r.from, to: r.to, time }));
    else
      say.line(
        text('notUpdated', { to: r.to, time, text: `${text(r.reason)} ${plain(r.text, 500)}`.trim() }),
      );
  }
  if (d.error) say.line(text(d.error.reason));
}

export async function updateCheck(bus: Bus, say: Say, { channel = '' }: Values): Promise<void> {
  const found = await bus.client(update1).Check({ channel }, 60_000).catch(absent);
  say.event({ ...found, size: Number(found.size) });
  say.line(text(found.available ? 'state_available' : 'state_idle', { version: found.version }));
  if (found.available && found.notes)
    for (const line of found.notes.split('\n')) say.line(`  ${plain(line)}`);
}

/** Follows the installation until it waits for a restart, restarts, or has failed. */
export async function updateInstall(
  bus: Bus,
  say: Say,
  { source = '', restart = '' }: Values,
): Promise<void> {
  const update = bus.client(update1);
  const live = process.stdout.isTTY === true;
  let settle: (e?: unknown) => void = () => {};
  const over = new Promise<void>((resolve, reject) => {
    settle = (e) => (e ? reject(e) : resolve());
  });
  over.catch(() => {});
  let shown = '';
  await bus.onSignal(update1, 'Progress', ({ step, percent, bytes, total }) => {
    say.event({ event: 'progress', step, percent, bytes: Number(bytes), total: Number(total) });
    const line = percent < 0 ? step : `${step} ${percent} %`;
    // A log gets a line a step, a terminal each percent.
    if ((live ? line : step) !== shown) say.line(plain(line));
    shown = live ? line : step;
  });
  await bus.onSignal(update1, 'StateChanged', ({ state, reason }) => {
    say.event({ event: 'state', state, reason });
    if (reason) settle(new IngleError('conflict', text(reason), { reason }));
    else if (['installed', 'waiting', 'draining', 'restarting'].includes(state)) settle();
  });
  bus.closed.then(() => settle(new IngleError('unavailable', say.text('noHouse'))));
  await update.Install({ source, restart }, 60_000).catch(absent);
  await over;
  const { state, detail } = await look(bus);
  say.line(text(`state_${state}`, { version: detail.target }));
}

export async function updateRestart(bus: Bus, say: Say, flags: ReadonlySet<string>): Promise<void> {
  const when_ = flags.has('night') ? 'night' : 'now';
  await bus.client(update1).Restart({ when: when_ }).catch(absent);
  say.event({ restart: when_ });
  const { detail } = await look(bus);
  say.line(text(when_ === 'night' ? 'state_waiting' : 'state_draining', { version: detail.target }));
}

export async function updateRollback(bus: Bus, say: Say): Promise<void> {
  const done = await bus.client(update1).Rollback({}).catch(absent);
  say.event(done);
  say.line(done.restarts ? text('state_restarting') : text('setAside', { version: done.version }));
}
