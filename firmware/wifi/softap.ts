// The access point as running programs: firewall first, then hostapd, the address, dnsmasq; down in reverse.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { IngleError } from '../protocol/errors.ts';
import { must, run, start, stop } from '../system/exec.ts';
import type { Log } from '../system/log.ts';
import type { parseCidr } from './credentials.ts';
import { dnsmasqConfig } from './dnsmasq.ts';
import { type AccessPoint, type HostapdEvent, hostapdConfig, parseHostapd } from './hostapd.ts';
import { nftRemove, nftRules } from './nft.ts';
import { plain } from './radio.ts';

export interface SoftapOptions {
  ap: Omit<AccessPoint, 'control'>;
  net: ReturnType<typeof parseCidr>;
  /** Folder of this boot that only the service reads. */
  runtime: string;
  log: Log;
  onClient(mac: string, here: boolean): void;
  /** One of the programs ended by itself; the rest is still up until `stop`. */
  onFell(what: 'hostapd' | 'dnsmasq'): void;
}

export interface Softap {
  stop(): Promise<void>;
}

/** hostapd.conf is the mark that there is something to remove: written first, removed last. */
const files = ['dnsmasq.conf', 'dnsmasq.leases', 'dnsmasq.pid', 'hostapd.conf'];

/** Brings the access point up; settles when it beacons and answers DHCP. @throws IngleError `unavailable` */
export async function openSoftap(o: SoftapOptions): Promise<Softap> {
  const radio = o.ap.interface;
  const control = join(o.runtime, 'hostapd');
  mkdirSync(o.runtime, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string) => {
    rmSync(join(o.runtime, name), { force: true });
    writeFileSync(join(o.runtime, name), text, { mode: 0o600 });
    return join(o.runtime, name);
  };
  const running: ChildProcess[] = [];
  let ending = false;
  async function down(): Promise<void> {
    ending = true;
    for (const child of running.reverse()) await stop(child);
    await plain(radio);
    await run('nft', ['-f', '-'], { input: nftRemove() });
    for (const f of files) rmSync(join(o.runtime, f), { force: true });
  }
  /** Starts a program and settles once `isUp` holds of a line it says. */
  function launch(
    name: 'hostapd' | 'dnsmasq',
    args: string[],
    hear: (line: string) => boolean | 'failed',
  ): Promise<void> {
    const child = start(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    return new Promise((resolve, reject) => {
      let up = false;
      const fail = (why: string) =>
        reject(new IngleError('unavailable', `The access point does not start (${name}: ${why}).`));
      const timer = setTimeout(() => fail('no answer'), 30_000);
      let last = '';
      for (const stream of [child.stdout!, child.stderr!])
        createInterface({ input: stream }).on('line', (line) => {
          last = line;
          o.log.debug(name, { said: line });
          const heard = hear(line);
          if (heard === 'failed') fail(line.slice(0, 200));
          else if (heard && !up) {
            up = true;
            clearTimeout(timer);
            resolve();
          }
        });
      child.on('error', (e) => fail(e.message));
      child.on('close', (code) => {
        clearTimeout(timer);
        if (!up) fail(`ended with ${code}: ${last.slice(0, 200)}`);
        else if (!ending) {
          o.log.warn(`${name} ended by itself`, { code, last });
          o.onFell(name);
        }
      });
    });
  }
  function hearHostapd(line: string): boolean | 'failed' {
    const e: HostapdEvent | undefined = parseHostapd(line);
    if (e?.kind === 'joined' || e?.kind === 'left') o.onClient(e.mac, e.kind === 'joined');
    if (e?.kind === 'down' && !ending) o.onFell('hostapd');
    return e?.kind === 'failed' ? 'failed' : e?.kind === 'up';
  }
  try {
    const hostapdConf = write('hostapd.conf', hostapdConfig({ ...o.ap, control }));
    // Before the first beacon, so that no client ever reaches more.
    await must('nft', ['-f', '-'], { input: nftRules({ interface: radio, address: o.net.address }) });
    await run('ip', ['addr', 'flush', 'dev', radio]);
    await launch('hostapd', [hostapdConf], hearHostapd);
    await must('ip', ['addr', 'replace', `${o.net.address}/${o.net.prefix}`, 'dev', radio]);
    const conf = write('dnsmasq.conf', dnsmasqConfig({ interface: radio, ...o.net, runtime: o.runtime }));
    await launch('dnsmasq', [`--conf-file=${conf}`], (line) => /\bstarted, version\b/.test(line));
  } catch (e) {
    await down();
    throw e;
  }
  return { stop: down };
}

/** Removes what a service that was killed left behind: rules, a beacon, files with keys. Only what was its own. */
export async function removeStray(runtime: string): Promise<void> {
  const config = join(runtime, 'hostapd.conf');
  if (!existsSync(config)) return;
  const radio = /^interface=(\S+)$/m.exec(readFileSync(config, 'utf8'))?.[1];
  if (radio) await plain(radio);
  await run('nft', ['-f', '-'], { input: nftRemove() });
  for (const f of files) rmSync(join(runtime, f), { force: true });
}
