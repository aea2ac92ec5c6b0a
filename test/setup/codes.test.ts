// What a console says to who has lost every passkey and to who hands a hub over, word by word, and what it asks of setup.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { may, type Proof, type Stage, type Way } from '../../firmware/setup/access.ts';
import { setupDialog } from '../../firmware/setup/dialog.ts';
import { Left } from '../../firmware/setup/talk.ts';
import { dialogTexts } from '../../firmware/text/dialog.ts';
import { type Language, translator } from '../../firmware/text/i18n.ts';
import { spaAccountTexts } from '../../firmware/text/spa-account.ts';
import { spaAsideTexts } from '../../firmware/text/spa-aside.ts';
import { uplinkTexts } from '../../firmware/text/uplink.ts';

const link = 'https://ingle.example/#v1.482913.AAAA.BBBB';
const place = { owner_id: 'own_b', subnet_id: 'net_b', hub_id: 'hub_1', app_url: 'https://ingle.example' };
const changes = [{ field: 'owner_id', was: 'own_a', now: 'own_b' }];

interface Given {
  way?: Way;
  stage?: Stage;
  proven?: Proof[];
  language?: Language;
  changes?: typeof changes;
  /** What a method of Setup1 throws. */
  fails?: Record<string, IngleError>;
}

/** Holds the conversation with a person who says `words`, and leaves after the last. */
async function converse(words: string[], given: Given = {}) {
  const { way = 'serial', stage = 'owned', proven = ['console'], language = 'en', fails = {} } = given;
  const said: string[] = [];
  const asked: string[] = [];
  let menu: string[] = [];
  const next = () => {
    const word = words.shift();
    if (word === undefined) throw new Left();
    return word;
  };
  const code = { link, device_code: '482-913', secret: '507-226' };
  const answers: Record<string, object> = {
    Status: { state: 'READY', detail: { name: 'Ingle', version: '1.2.3' } },
    Stage: { stage },
    Offered: { ...place, changes: given.changes ?? [] },
    Adopt: {},
  };
  const setup = new Proxy({} as never, {
    get: (_, method: string) => async (args: object) => {
      if (method !== 'Status' && method !== 'Stage') asked.push(`${method} ${JSON.stringify(args)}`);
      if (fails[method]) throw fails[method];
      const expires_at = BigInt(Math.round(Date.now() / 1000) + 600);
      return answers[method] ?? { ...code, expires_at };
    },
  });
  await setupDialog(
    {
      say: async (text) => void said.push(text),
      ask: async (question) => {
        said.push(question);
        return next();
      },
      async choose(question, options) {
        const words = translator(dialogTexts, language);
        if (question === words('menu')) menu = options;
        else said.push(question);
        const word = next();
        const i = options.indexOf(word);
        if (i < 0) throw new Error(`no "${word}" among ${options.join(', ')}`);
        return i;
      },
    },
    {
      channel: 'serial',
      may: (at, action) => may(way, at, action, proven),
      setup,
      language,
      onProgress: () => () => {},
    },
  );
  return { said: said.slice(1), asked, menu };
}
const { menu_recover: recover, menu_hand_over: handOver } = dialogTexts.en;

test('who has lost every passkey gets a code for a new one, and is told what stays and what to do next', async () => {
  const { said, asked } = await converse([recover]);
  assert.equal(asked, ['RecoveryLink {}']);
  assert.equal(said, [
    'With this code a phone makes a new passkey for the owner. Nothing else changes: the passkeys and browsers of before stay until you remove them.',
    `Open this link on your phone: ${link}`,
    'or open ingle.example and type: 482-913 507-226',
    'It is good once, for 10 minutes, and ends when another code is made.',
    'On the phone, make the new passkey when it asks. Then remove what is lost: passkeys under Settings, "Access", browsers under Settings, "Your browsers".',
  ]);
});

test('a hand-over begins with what it takes, and gives the new owner only what finds the hub', async () => {
  const { said, asked } = await converse([handOver, 'Yes']);
  assert.equal(asked, ['Offered {}', 'PairingLink {}']);
  assert.match(said[0]!, /^A hub is handed over in three steps\. Until the last one it keeps its owner/);
  assert.equal(said.slice(1), [
    'Make the code for the new owner?',
    'Code for the new owner: 482-913',
    'It is good once, for 10 minutes, and ends when another code is made.',
    'The new owner types it under Settings, "Access", "Take over a hub that is offered to you". From then on nobody reaches this hub by the application, until you choose "Hand over to another owner" here again and confirm.',
  ]);
  const not = await converse([handOver, 'No']);
  assert.equal(not.asked, ['Offered {}']);
  assert.is(not.said.at(-1), 'Nothing was changed.');
});

test('a hub that was taken over changes hands once a person has typed where it goes, and shows the next code', async () => {
  const told = [
    'The root service offers this hub another place than the one it has:',
    '  owner: was own_a, would be own_b',
    'If you confirm, every paired browser, passkey and person is forgotten, and the hub belongs to this owner and opens to this application only. Until then all of them stay.',
    'If you know of no hand-over, do not confirm: somebody who runs the root service could be behind this.',
    'To confirm, type the address of the application, ingle.example',
  ];
  for (const stage of ['owned', 'ownerless'] as const) {
    const { said, asked } = await converse([handOver, ' ingle.example '], { changes, stage });
    assert.equal(asked, ['Offered {}', `Adopt ${JSON.stringify(place)}`, 'PairingLink {}']);
    assert.equal(said.slice(0, 5), told);
    assert.match(said[5]!, /has its new owner and has forgotten whom it knew/);
    assert.is(said[6], 'Now the new owner pairs a phone with it:');
    assert.is(said[8], 'or open ingle.example and type: 482-913 507-226');
  }
  for (const word of ['', 'yes', 'ingle.exampl', 'https://ingle.example']) {
    const { said, asked } = await converse([handOver, word], { changes });
    assert.equal(asked, ['Offered {}'], word);
    assert.equal(said, [...told, 'Nothing was changed.']);
  }
  assert.equal(
    (await converse([handOver], { changes })).asked,
    ['Offered {}'],
    'who leaves confirms nothing',
  );
});

test('a hub nobody is paired with has nobody to hand it over, and says what to choose', async () => {
  const { said, asked } = await converse([handOver], { stage: 'ownerless' });
  assert.equal(asked, ['Offered {}']);
  assert.match(said.join(), /choose "Every passkey is lost" first/);
  assert.match(said.join(), /the new one chooses "Pair a phone"/);
});

test('both are in the menu of who is proven at the console, once the hub was set up, and of nobody else', async () => {
  const offered = async (given: Given) =>
    (await converse([], given)).menu.filter((label) => label === recover || label === handOver);
  for (const way of ['serial', 'screen'] as const) {
    for (const stage of ['owned', 'ownerless'] as const)
      assert.equal(await offered({ way, stage }), [recover, handOver], `${way} ${stage}`);
    assert.equal(await offered({ way, stage: 'new' }), []);
    assert.equal(await offered({ way, proven: ['pin', 'presence', 'psk', 'owner'] }), []);
  }
  assert.equal(await offered({ way: 'bot', proven: ['pin', 'console'] }), []);
});

test('what goes wrong is told with the next step, and the menu is there again', async () => {
  const rows: [
    code: 'unavailable' | 'rate_limited' | 'conflict',
    text: keyof typeof uplinkTexts.en,
    RegExp,
  ][] = [
    ['unavailable', 'noAnswer', /Check the network and the address, then try again/],
    ['rate_limited', 'rootBusy', /Try again in a minute/],
    ['conflict', 'changed', /“Hand over to another owner” at its console/],
    ['conflict', 'offerChanged', /choose “Hand over to another owner” again/],
  ];
  for (const [code, text, next] of rows) {
    const e = new IngleError(code, uplinkTexts.en[text]);
    for (const [method, words] of [
      ['RecoveryLink', [recover]],
      ['Offered', [handOver]],
      ['PairingLink', [handOver, 'Yes']],
      ['Adopt', [handOver, 'ingle.example']],
    ] as const) {
      const { said, asked } = await converse([...words], {
        fails: { [method]: e },
        ...(method === 'Adopt' ? { changes } : {}),
      });
      assert.match(said.at(-1)!, /^That did not work: /, method);
      assert.match(said.at(-1)!, next, method);
      assert.match(asked.at(-1)!, new RegExp(`^${method} `), 'nothing is asked after it');
    }
  }
});

test('pages of the application and errors call the console’s entries what the console calls them', async () => {
  for (const language of ['en', 'ru'] as const) {
    const { menu_recover, menu_hand_over } = dialogTexts[language];
    const account = spaAccountTexts[language];
    for (const text of [account.lost, spaAsideTexts[language].nopasskey_hub])
      assert.ok(String(text).includes(menu_recover), String(text));
    for (const text of [
      ...[account.take_hint, account.taken, dialogTexts[language].hand_over_next],
      ...[uplinkTexts[language].changed, uplinkTexts[language].offerChanged],
    ])
      assert.ok(String(text).includes(menu_hand_over), String(text));
    assert.ok(dialogTexts[language].hand_over_next.includes(String(account.take_code)));
    const { said } = await converse([menu_recover], { language });
    assert.equal(
      [said[0], said[4]],
      [dialogTexts[language].recover_does, dialogTexts[language].recover_next],
    );
  }
  // A screen has English alone, whatever the hub speaks.
  const { menu_recover, menu_hand_over } = dialogTexts.en;
  assert.ok(String(spaAccountTexts.ru.lost).includes(menu_recover));
  assert.ok(String(spaAccountTexts.ru.take_hint).includes(menu_hand_over));
});

test.run();
