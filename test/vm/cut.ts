// Power cuts in the middle of setup: what must hold when the power is back.
import * as assert from 'uvu/assert';
import { ladder } from '../../firmware/setup/ladder.ts';
import { call, home, journal, labRoot, noPart, reach, strays, without } from './hub.ts';
import { boot, type Vm } from './lab.ts';
import { rootStandIn } from './radio.ts';
import { openHome, plugRadios } from './wifi.ts';

/** One database's check of itself, and what setup keeps in it. */
const look = `
const sqlite3 = require('/usr/lib/ingle/node_modules/sqlite3');
const file = process.argv[2];
const db = new sqlite3.Database(file);
const all = (sql) => new Promise((ok, no) => db.all(sql, (e, rows) => (e ? no(e) : ok(rows))));
(async () => {
  await all('PRAGMA busy_timeout = 20000');
  const check = (await all('PRAGMA integrity_check'))[0].integrity_check;
  const kept = file.endsWith('/setup.db') ? (await all('SELECT json FROM setup'))[0]?.json : undefined;
  await new Promise((ok) => db.close(ok));
  console.log(JSON.stringify({ file, check, kept }));
})();
`;
/** Each as its owner: a file beside a database that root made would lock its service out. */
const lookAtAll =
  'for f in /var/lib/ingle/*/*.db; do setpriv --reuid=$(stat -c %U $f) --regid=$(stat -c %G $f) --clear-groups node /run/look.cjs $f || exit 1; done';

/** Waits until setup has kept one of these states: what is only said yet, a power cut may take. */
export const keeps = (vm: Vm, states: string) =>
  vm.until(
    `f=$(ls /var/lib/ingle/*/setup.db) && setpriv --reuid=$(stat -c %U $f) --regid=$(stat -c %G $f) --clear-groups node /run/look.cjs $f | grep -q -E '${states}'`,
    { timeoutMs: 180_000 },
  );

export interface Kept {
  /** The event by which the ladder went on after the boot: fresh, resume, retest, known or known_limits. */
  how: string;
  /** The state some seconds after the boot. */
  state: string;
  attempts: number;
  done: boolean;
}

const resting = without([...noPart, 'bluetooth', 'ingle-api', 'ingle-uplink']);

/** The hub in the lab, its root as in the other suites. */
export const bootForCuts = () => boot({ cmdline: `${labRoot} ${resting}` });

/** Cuts the power, boots again, and checks that nothing is half written and nothing serves unasked. */
export async function cut(vm: Vm): Promise<Kept> {
  await vm.kill();
  await vm.start();
  await vm.put('/run/look.cjs', look);
  // The ladder is at work when it answers.
  await reach(vm, 'the ladder after a power cut', (s) => s.state !== 'BOOT');
  const said = await vm.must(lookAtAll, { timeoutMs: 180_000 });
  const found = said
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; check: string; kept?: string });
  for (const { file, check } of found) assert.is(check, 'ok', file);
  const json = found.find((f) => f.kept)?.kept;
  assert.ok(json, 'setup kept its state');
  const went = await vm.must('journalctl -b -u ingle-setup -o cat | grep -m 1 "ladder BOOT -> "');
  const how = /event=(\w+)/.exec(went)?.[1] ?? '';
  const kept = { ...(JSON.parse(json) as Kept), how };
  assert.ok(Object.hasOwn(ladder, kept.state), kept.state);
  assert.type(kept.attempts, 'number');
  // No radio is plugged in yet, so whatever is here is left over.
  assert.is(await vm.must(strays), '', await journal(vm));
  assert.is(await vm.must('find /run/ingle/wifi -type f 2>/dev/null; true'), '');
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
