// timeout: 200 s
// Under npm start: a package goes into a slot that nobody kept, and its process comes when the bus calls it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import type { House } from '../../services/cli/house/house.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';
import { file, manifest, signerOfSeed } from '../skills/archive.ts';

const test = suite<{ house: House }>('packages in a house');
test.before(async (c) => {
  c.house = await startHouse();
});
test.after((c) => c.house.stop());

test('the log of its processes is read by the skill that was given it', async ({ house }) => {
  const token = readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim();
  const ask = async (query: string, after = '') => {
    const headers = { 'x-service-token': token, ...(after ? { 'last-event-id': after } : {}) };
    return (await fetch(`${house.api}/skills/logs/v1/logs${query}`, { headers })).text();
  };
  const { lines } = JSON.parse(await ask('?unit=ingle-api&text=listening'));
  assert.is(lines.length, 1);
  assert.match(lines[0].text, /^api: listening/);
  const events = await ask('/stream?tail=3');
  assert.match(events, /^event: log\ndata: \{"unit":"ingle-/m);
  assert.match(events, /^id: t:\d+:\d+$/m);
});

test('the weather answers below both its names', async ({ house }) => {
  const token = readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim();
  const ask = async (path: string) => {
    const r = await fetch(house.api + path, { headers: { 'x-service-token': token } });
    return { status: r.status, body: await r.json() };
  };
  const named = await ask('/skills/weather_skill/v1/ui/manifest');
  assert.is(named.status, 200);
  assert.equal(named, await ask('/skills/weather/v1/ui/manifest'));
  // It is a second name of what is there, and of nothing else.
  assert.is((await ask('/skills/rain_skill/v1/state')).status, 404);
  assert.is((await ask('/skills/weather_skill_skill/v1/state')).status, 404);
});

test('what is installed there serves, is updated and is removed', async ({ house }) => {
  const ask = async (method: string, path: string, body?: Uint8Array | object) => {
    const token = readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim();
    const r = await fetch(house.api + path, {
      method,
      headers: { 'x-service-token': token },
      ...(body ? { body: (body instanceof Uint8Array ? body : JSON.stringify(body)) as string } : {}),
    });
    return { status: r.status, body: await r.json() };
  };
  const acme = signerOfSeed(1);
  const key = toBase64url(acme.key);
  assert.is((await ask('POST', '/api/skills/publishers', { key, name: 'Acme' })).status, 200);
  for (const version of ['1.0.0', '1.1.0']) {
    const code = `export const skill = { start: () => ({ endpoints: [
      { method: 'POST', path: '/v1/say', answer: () => ({ body: { version: '${version}' } }) } ] }) };`;
    const files = [file('manifest.json', JSON.stringify(manifest('lamp', version))), file('skill.js', code)];
    const r = await ask('POST', '/api/skills/install', packSkill(files, acme).bytes);
    assert.is(r.status, 200, JSON.stringify(r.body));
    await until(
      tried(async () => {
        const said = await ask('POST', '/skills/lamp/v1/say');
        return said.status === 200 && said.body.version === version;
      }),
      `version ${version} to serve`,
    );
  }
  // It is started by the bus and not by the house, and its log is there all the same.
  const all = (await ask('GET', '/api/services')).body.services as {
    unit: string;
    skill_id: string | null;
  }[];
  const { unit } = all.find((u) => u.skill_id === 'lamp')!;
  const log = await ask('GET', `/api/services/${encodeURIComponent(unit)}/logs`);
  assert.is(log.status, 200, JSON.stringify([unit, log.body]));
  const { lines } = log.body;
  const said = (lines as { text: string }[]).map(({ text }) => text);
  assert.ok(
    said.some((text) => /serving skill=lamp version=1\.1\.0/.test(text)),
    said.join('\n'),
  );
  const order = await ask('POST', `/api/services/${encodeURIComponent(unit)}/restart`, {});
  assert.is(order.status, 409, JSON.stringify(order.body));
  assert.is((await ask('DELETE', '/api/skills/lamp')).status, 200);
  await until(
    tried(async () => (await ask('POST', '/skills/lamp/v1/say')).status === 404),
    'it to be gone',
  );
});

test.run();
