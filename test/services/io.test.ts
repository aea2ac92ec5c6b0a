// timeout: 200 s
// Speaking and printing over HTTP and over the topics that replace it, against an audio service that is told what to do.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { topics } from '../../firmware/io/topics.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

interface Said {
  text: string;
  lang: string;
  sink_id: string;
}
const device = { type: 'usb', muted: false, volume: 0.5, connected: true, score: 1, usable: true };
const test = suite<{ hub: TestHub; bus: Bus; said: Said[] }>('io');
test.before(async (c) => {
  c.hub = await startHub();
  c.bus = await connect(c.hub.bus.address);
  c.said = [];
});
test.after(async (c) => {
  c.bus.close();
  await c.hub.stop();
});

test('without a sound service the answer says what to do', async ({ hub }) => {
  const r = await hub.ask('POST', '/api/say', { body: { text: 'Hello' } });
  assert.is(r.body.error, 'not_supported');
  assert.match(r.body.message, 'sound service');
});

test('what is to be said is said, and the answer says so and what replaces it', async ({
  hub,
  bus,
  said,
}) => {
  const impl = {
    async Say(asked: Said) {
      if (asked.sink_id === 'gone') throw new IngleError('not_found', 'There is no sink "gone".');
      said.push(asked);
      return { spoken: ['speaker'] };
    },
    Enumerate: () => ({
      sinks: [{ ...device, id: 'out', name: 'Box' }],
      sources: [{ ...device, id: 'in', name: 'Mic' }],
    }),
    Playing: () => ({ streams: [{ sink_id: 'out', name: 'Rain' }] }),
  };
  await bus.serve(audio1, impl as never);
  const r = await hub.ask('POST', '/api/say', { as: {}, body: { text: 'Добрый день', lang: 'ru' } });
  assert.equal(r.body, { text: 'Добрый день', lang: 'ru', spoken: ['speaker'] });
  assert.is(said[0]!.text, 'Добрый день');
  assert.match(r.headers.get('deprecation') ?? '', /^@\d+$/);
  const [, target] = /^<(.*)>; rel="successor-version"$/.exec(r.headers.get('link') ?? '')!;
  const page = await hub.ask('GET', target!.replace(/#.*/, ''));
  assert.match(page.body, `id="${target!.replace(/.*#/, '')}"`);
  const { body: doc } = await hub.ask('GET', '/api/openapi.json');
  assert.is(doc.paths['/api/say'].post.deprecated, true);
  assert.is(doc.paths['/api/status'].get.deprecated, undefined);
  assert.is((await hub.ask('GET', '/api/status')).headers.get('deprecation'), null);
});

test('the owner sees what sound goes out and comes in by, and what plays', async ({ hub }) => {
  const { status, body } = await hub.ask('GET', '/api/node/media', { as: {} });
  assert.is(status, 200, JSON.stringify(body));
  assert.equal(
    [body.sinks[0].id, body.sinks[0].volume, body.sources[0].id, body.playing],
    ['out', 0.5, 'in', [{ sink_id: 'out', name: 'Rain' }]],
  );
});

test('a refusal of an older path names what replaces it, too', async ({ hub }) => {
  const r = await hub.ask('POST', '/api/say', { body: { text: '' } });
  assert.is(r.body.error, 'invalid_request');
  assert.match(r.headers.get('deprecation') ?? '', /^@\d+$/);
  assert.is((await hub.ask('POST', '/api/say', { body: { text: 'x', sink_id: 'gone' } })).status, 404);
});

test('the topic speaks as the path does, and rubbish on it harms nobody', async ({ hub, bus, said }) => {
  for (const bad of [null, 'x', { text: 1 }, { text: 'x', sink: 1 }, { text: 'x'.repeat(501) }])
    bus.publish(topics.speak, bad);
  bus.publish(topics.speak, { text: 'By topic' });
  await until(() => said.some((s) => s.text === 'By topic'), 'the words');
  assert.is(said.filter((s) => s.text.startsWith('x')).length, 0);
  assert.is((await hub.ask('GET', '/api/status')).status, 200);
});

test('who says too much is told to wait', async ({ hub }) => {
  const all = await Promise.all(
    Array.from({ length: 12 }, () => hub.ask('POST', '/api/say', { body: { text: 'Again' } })),
  );
  const refused = all.filter((r) => r.status === 429);
  assert.ok(refused.length >= 6);
  assert.ok(refused.every((r) => Number(r.headers.get('retry-after')) > 0));
});

test('a line goes to the consoles without what steers them, and a flood is refused', async ({ hub, bus }) => {
  const heard: unknown[] = [];
  await bus.subscribe(topics.print, (_, payload) => void heard.push(payload));
  const print = (text: string) =>
    hub.ask('POST', '/api/io/console/print', { body: { text, level: 'warning' } });
  const said = await print('\x1b]0;x\x07the door\nis open');
  assert.equal(said.body, { ok: true });
  assert.match(said.headers.get('deprecation') ?? '', /^@\d+$/);
  assert.match(said.headers.get('link') ?? '', /^<.*>; rel="successor-version"$/);
  await until(() => heard.length === 1, 'the line');
  assert.equal(heard[0], { text: ']0;x the door is open', level: 'warning' });
  assert.is((await print('\x1b\x07')).body.error, 'invalid_request');
  const all = await Promise.all(Array.from({ length: 30 }, (_, i) => print(`line ${i}`)));
  assert.ok(all.filter((r) => r.status === 429).length >= 15);
  assert.is(
    (await hub.ask('POST', '/api/io/console/print', { as: { role: 'guest' }, body: { text: 'x' } })).status,
    403,
  );
});

test.run();
