// Declarative interest of a skill over its host: asked for, told in time, kept, ended.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { msOf } from '../../firmware/interest/duration.ts';
import { defineSkill } from '../../firmware/skills/sdk/sdk.ts';
import type { JsonObject, SkillContext } from '../../firmware/skills/sdk/skill.ts';
import { startSkill } from '../../firmware/skills/sdk/test.ts';

const test = suite('interest of a skill');
const manifest = (supports = true) => ({
  id: 'sky',
  version: '1.0.0',
  capabilities: { streams: { supportsDeclarativeInterest: supports } },
});
const asked = (period = '5m', ttl = '1h', topic = 'sky.update'): JsonObject => ({
  streams: [{ topic, area: { lat: 52, lon: 13, radius_km: 5 }, period, ttl }],
});
/** A skill that notes when it is asked to tell what. */
async function noting(o: { fails?: boolean; supports?: boolean } = {}) {
  const told: [number, string][] = [];
  const seen: { ctx?: SkillContext } = {};
  let now = () => 0;
  const skill = defineSkill({
    start: (ctx) => {
      seen.ctx = ctx;
      return {
        endpoints: [],
        wanted(due) {
          for (const { topic } of due) told.push([now() - begin, topic]);
          if (o.fails) throw new Error('no sky');
        },
      };
    },
  });
  const s = await startSkill(skill, { manifest: manifest(o.supports) });
  now = () => s.now;
  const begin = s.now;
  await s.attach('ann');
  const ask = (body: JsonObject, owner_id = 'ann') => s.request('POST', '/v1/interest', { body, owner_id });
  return { s, told, ask, seen };
}
const minutes = (told: [number, string][]) => told.map(([at]) => at / 60_000);

test('who asks is told at once, then each period, and no more after the ttl', async () => {
  const { s, told, ask, seen } = await noting();
  const { status, body } = await ask(asked('5m', '16m'));
  const { subscription_id, nextUpdateIn } = body as JsonObject;
  assert.is(status, 200);
  assert.match(String(subscription_id), /^[0-9a-f-]{36}$/);
  assert.is(nextUpdateIn, 'PT0S');
  await s.advance(3_600_000);
  assert.equal(minutes(told), [0, 5, 10, 15]);
  assert.equal(seen.ctx!.interest.wanted(), []);
});

test('the same request renews under its id and says when the next update is', async () => {
  const { s, told, ask } = await noting();
  const first = (await ask(asked('5m', '10m'))).body as JsonObject;
  await s.advance(7 * 60_000);
  const again = (await ask(asked('5m', '10m'))).body as JsonObject;
  assert.is(again['subscription_id'], first['subscription_id']);
  assert.is(again['nextUpdateIn'], 'PT3M');
  await s.advance(60 * 60_000);
  assert.equal(minutes(told), [0, 5, 10, 15]);
});

test('a second person who wants it oftener hastens it for both, until that one ends', async () => {
  const { s, told, ask } = await noting();
  await s.attach('bob');
  await ask(asked('10m', '1h'));
  await s.advance(1);
  await ask(asked('2m', '4m'), 'bob');
  await s.advance(15 * 60_000);
  assert.equal(minutes(told), [0, 2, 4, 14]);
});

test('subscriptions outlive a kill, and what is wanted is told at once after it', async () => {
  const { s, told, ask } = await noting();
  await ask(asked('5m', '20m'));
  await s.advance(0);
  await s.restart({ killed: true, after: 7 * 60_000 });
  await s.advance(60 * 60_000);
  assert.equal(minutes(told), [0, 7, 12, 17]);
  await s.restart({ killed: true });
  await s.advance(60 * 60_000);
  assert.is(told.length, 4, 'what has ended stays so');
});

test('a skill that fails to tell is asked again after the period, not in a storm', async () => {
  const { s, told, ask } = await noting({ fails: true });
  await ask(asked('5m', '11m'));
  await s.advance(60 * 60_000);
  assert.equal(minutes(told), [0, 5, 10]);
  assert.is(s.errors.length, 3);
});

test('a bad request is refused, and one too many; a skill that supports none has no such path', async () => {
  const { ask } = await noting();
  const codeOf = (p: Promise<unknown>) =>
    p.then(
      () => 'taken',
      (e) => e.code,
    );
  for (const body of [{}, { streams: 'x' }, asked('x'), asked('5m', '1m')])
    assert.is(await codeOf(ask(body as JsonObject)), 'invalid_request');
  const many = Array.from({ length: 17 }, (_, i) => codeOf(ask(asked('5m', '1h', `t${i}`))));
  assert.equal(
    (await Promise.all(many)).filter((c) => c !== 'taken'),
    ['conflict'],
  );
  assert.is(await codeOf((await noting({ supports: false })).ask(asked())), 'not_found');
});

test('property: whoever asks when, each is told within its period while it lasts, and nobody afterwards', async () => {
  const arb = fc.array(
    fc.record({
      wait: fc.integer({ min: 0, max: 600_000 }),
      period: fc.constantFrom('10s', '1m', '5m'),
      ttl: fc.constantFrom('5m', '20m'),
      topic: fc.constantFrom('a', 'b'),
    }),
    { minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(arb, async (all) => {
      const { s, told, ask } = await noting();
      const asks: { from: number; to: number; period: number; topic: string }[] = [];
      const begin = s.now;
      for (const { wait, period, ttl, topic } of all) {
        await s.advance(wait);
        const from = s.now - begin;
        await ask(asked(period, ttl, topic));
        // A renewal replaces what was asked for before.
        for (const a of asks) if (a.topic === topic) a.to = Math.min(a.to, from);
        asks.push({ from, to: from + msOf(ttl), period: msOf(period), topic });
      }
      await s.advance(3_600_000);
      for (const a of asks)
        for (let at = a.from; at + a.period < a.to; at += a.period)
          assert.ok(
            told.some(([t, topic]) => topic === a.topic && t >= at && t <= at + a.period),
            `${JSON.stringify(a)} at ${at}`,
          );
      for (const [t, topic] of told)
        assert.ok(
          asks.some((a) => a.topic === topic && t >= a.from && t <= a.to),
          `${topic} at ${t}`,
        );
      s.stop();
    }),
    { numRuns: 25 },
  );
});

test.run();
