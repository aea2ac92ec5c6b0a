// Power cuts in the middle of setup: what must hold when the power is back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { ladder } from '../../../firmware/setup/ladder.ts';
import { flashedEsp } from './esp.ts';
import { call, home, journal, labRoot, notLadder, reach, type SetupStatus, strays, without } from './hub.ts';
import { boot, type Vm } from './lab.ts';
import type { PowerCut } from './power.ts';
import { rootStandIn } from './radio.ts';
import { openHome, plugRadios } from './wifi.ts';

/**
 * Each database's check of itself, and what setup keeps; with a word, it waits until setup keeps a state that fits it.
 * SQLite gives what root makes beside a database to that one's owner; anything else would lock its service out.
 */
const inspect = `
const { existsSync, readdirSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { EventEmitter } = require('node:events');
const { Database, Statement } = require('/usr/lib/ingle/native/node_sqlite3.node');
// What a bundle's JavaScript adds to the machine code.
for (const one of [Database, Statement])
  for (const name in EventEmitter.prototype) one.prototype[name] = EventEmitter.prototype[name];
async function ask(file, ...questions) {
  const db = new Database(file);
  const all = (sql) => new Promise((ok, no) => {
    const asked = new Statement(db, sql, (e) => e && no(e));
    asked.all((e, rows) => (e ? no(e) : ok(rows[0]))).finalize();
  });
  const said = {};
  for (const q of ['PRAGMA busy_timeout = 20000', ...questions]) Object.assign(said, await all(q));
  await new Promise((ok) => db.close(ok));
  for (const beside of [file + '-wal', file + '-shm'])
    if (existsSync(beside) && statSync(beside).uid !== statSync(file).uid) throw new Error(beside + ' has another owner');
  return said;
}
const kept = "SELECT json_set(memory, '$.state', state) AS json FROM ladder";
(async () => {
  const top = '/var/lib/ingle';
  const files = readdirSync(top).flatMap((d) => readdirSync(join(top, d)).map((f) => join(top, d, f)));
  const isSetup = (f) => f.endsWith('/setup.db');
  const fits = process.argv[2];
  if (fits)
    while (!new RegExp(fits).test((await ask(files.find(isSetup), kept)).json))
      await new Promise((ok) => setTimeout(ok, 200));
  else
    for (const file of files.filter((f) => f.endsWith('.db')))
      console.log(JSON.stringify({ file, ...(await ask(file, 'PRAGMA integrity_check', ...(isSetup(file) ? [kept] : []))) }));
})();
`;
const lookNow = 'node --snapshot-blob=/usr/lib/ingle/node.blob /run/look.cjs';

/** Waits until setup has kept one of these states: what is only said yet, a power cut may take. */
export const keeps = (vm: Vm, states: string) => vm.must(`timeout 290 ${lookNow} '${states}'`);

export interface Kept {
  /** The event by which the ladder went on after the boot: fresh, resume or retest; known or known_limits once a browser is paired. */
  how: string;
  /** The state some seconds after the boot. */
  state: string;
  attempts: number;
  done: boolean;
}

/** The hub in the lab, its root as in the other suites, and an ESP beside its data: a cut takes what was not flushed. */
export async function bootForCuts(): Promise<Vm> {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-cuts-'));
  const esp = join(dir, 'esp.img');
  await flashedEsp(esp);
  try {
    // Its suite is patient: no watchdog may end what is only late.
    return await boot({ cuts: true, esp, steady: true, cmdline: `${labRoot} ${without(notLadder)}` });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/**
 * Cuts the power, boots again, and checks that nothing is half written and nothing serves unasked.
 * @param look sees what the disk was told
 */
export async function cut(vm: Vm, look?: (cut: PowerCut) => Promise<void>): Promise<Kept> {
  await vm.kill(look);
  await vm.start();
  await vm.put('/run/look.cjs', inspect);
  // The ladder is at work when it answers.
  await reach(vm, 'the ladder after a power cut', (s) => s.state !== 'BOOT');
  const said = await vm.must(lookNow);
  const found = said
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; integrity_check: string; json?: string });
  for (const f of found) assert.is(f.integrity_check, 'ok', f.file);
  const json = found.find((f) => f.json)?.json;
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

/**
 * From wherever setup resumed: to ready, with the access point gone. Who is told a reason tries again. A hub that is in
 * its network already waits for its owner, and is finished by hand.
 */
export async function complete(vm: Vm): Promise<string> {
  const isReady = (x: SetupStatus) => x.state.startsWith('READY') && x.online;
  const waits = (x: SetupStatus) => ['CHANNELS', 'CONSOLE', 'HINT'].includes(x.state) && x.online;
  let s = await reach(
    vm,
    'channels, its network or ready',
    (x) => (x.state === 'CHANNELS' && x.channels.includes('softap')) || waits(x) || isReady(x),
  );
  if (waits(s)) {
    await call(vm, 'Setup1', 'Finish', 's', 'serial');
    s = await reach(vm, 'ready', isReady);
  }
  for (let tries = 3; !isReady(s); tries--) {
    if (tries === 0) throw new Error(`the network cannot be joined: ${s.reason}\n${await journal(vm)}`);
    await call(vm, 'Setup1', 'WifiConnect', 'sssb', 'serial', home.ssid, home.psk, false);
    const failed = (x: SetupStatus) => x.state === 'CHANNELS' && x.error === 'wifi';
    s = await reach(vm, 'ready, or a reason', (x) => isReady(x) || failed(x));
  }
  await vm.until(`test -z "$(${strays})"`);
  return s.state;
}
