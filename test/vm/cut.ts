// Power cuts in the middle of setup: what must hold when the power is back.
import * as assert from 'uvu/assert';
import { ladder } from '../../firmware/setup/ladder.ts';
import { call, home, journal, labRoot, openHome, plugRadios, reach, strays } from './hub.ts';
import { boot, type Vm } from './lab.ts';
import { rootStandIn } from './radio.ts';

/** Every database of the hub: its own check of itself, and what setup and Wi-Fi keep. */
const look = `
const { readdirSync } = require('node:fs');
const sqlite3 = require('/usr/lib/ingle/node_modules/sqlite3');
const all = (db, sql) => new Promise((ok, no) => db.all(sql, (e, rows) => (e ? no(e) : ok(rows))));
(async () => {
  const out = { checks: {} };
  for (const service of readdirSync('/var/lib/ingle'))
    for (const f of readdirSync('/var/lib/ingle/' + service).filter((f) => f.endsWith('.db'))) {
      const db = new sqlite3.Database('/var/lib/ingle/' + service + '/' + f);
      await all(db, 'PRAGMA busy_timeout = 20000');
      out.checks[service + '/' + f] = (await all(db, 'PRAGMA integrity_check'))[0].integrity_check;
      if (service === 'setup') out.setup = (await all(db, 'SELECT json FROM setup'))[0]?.json;
    }
  console.log(JSON.stringify(out));
})();
`;

export interface Kept {
  state: string;
  attempts: number;
  done: boolean;
}

/** A hub with the services of setup, in the lab. */
export const bootForCuts = () => boot({ services: ['setup', 'wizard', 'wifi', 'audio'], cmdline: labRoot });

/** Cuts the power, boots again, and checks that nothing is half written and nothing serves unasked. */
export async function cut(vm: Vm): Promise<Kept> {
  await vm.kill();
  await vm.start();
  await vm.put('/run/look.cjs', look);
  // The ladder is at work when it answers.
  await reach(vm, 'the ladder after a power cut', (s) => s.state !== 'BOOT');
  const found = JSON.parse(await vm.must('node /run/look.cjs', { timeoutMs: 120_000 })) as {
    checks: Record<string, string>;
    setup: string;
  };
  for (const [file, check] of Object.entries(found.checks)) assert.is(check, 'ok', file);
  assert.ok(found.checks['setup/setup.db'], 'setup kept its state');
  const kept = JSON.parse(found.setup) as Kept;
  assert.ok(Object.hasOwn(ladder, kept.state), kept.state);
  assert.type(kept.attempts, 'number');
  // No radio is plugged in yet, so whatever is here is left over.
  assert.is(await vm.must(strays), '', await journal(vm));
  assert.is(await vm.must('find /run/ingle/wifi -type f'), '');
  return kept;
}

/** The lab's radios, home network and root are there again after a boot. */
export async function surroundings(vm: Vm): Promise<void> {
  await plugRadios(vm);
  await openHome(vm);
  await rootStandIn(vm, 'home');
}

/** From wherever setup resumed: to ready, with the access point gone. */
export async function complete(vm: Vm): Promise<string> {
  const s = await reach(
    vm,
    'channels or ready',
    (x) =>
      (x.state === 'CHANNELS' && x.channels.includes('softap')) || (x.state.startsWith('READY') && x.online),
    240_000,
  );
  if (s.state === 'CHANNELS')
    await call(vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, home.psk, false);
  const end = await reach(vm, 'ready', (x) => x.state.startsWith('READY') && x.online);
  await vm.until(`test -z "$(${strays})"`, { timeoutMs: 60_000 });
  return end.state;
}
