// The radios of this machine and what is done to them by iw and ip.
import { existsSync, readdirSync } from 'node:fs';
import { IngleError } from '../protocol/errors.ts';
import { must, run } from '../system/exec.ts';
import { type Network, parsePhy, parseScan } from './iw.ts';

/** Names of the Wi-Fi interfaces there are now, in a steady order. */
export function listRadios(): string[] {
  try {
    return readdirSync('/sys/class/net')
      .filter((n) => existsSync(`/sys/class/net/${n}/phy80211`))
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  } catch {
    return [];
  }
}

/** What the radio behind an interface can do. */
export async function abilities(radio: string): Promise<{ ap: boolean; sae: boolean }> {
  const info = (await must('iw', ['dev', radio, 'info'])).toString();
  const phy = /\bwiphy (\d+)/.exec(info)?.[1];
  return parsePhy((await must('iw', ['phy', `phy${phy}`, 'info'])).toString());
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Looks for networks. While the interface is an access point its radio leaves the channel for moments.
 * @param frequencies MHz; all of the radio's, which takes seconds, when left out
 * @throws IngleError `unavailable` when the radio does not look
 */
export async function scan(radio: string, frequencies: readonly number[] = []): Promise<Network[]> {
  const at = frequencies.length > 0 ? ['freq', ...frequencies.map(String)] : [];
  await run('ip', ['link', 'set', radio, 'up']);
  let said = '';
  let mute = 0;
  // Busy means that somebody else (wpa_supplicant) looks just now; no answer, that its look ended ours without a word.
  for (let tries = 0; tries < 6 && mute < 2; tries++) {
    const r = await run('iw', ['dev', radio, 'scan', ...at, 'ap-force'], { timeoutMs: 15_000 }).catch(
      () => undefined,
    );
    if (r?.code === 0) return parseScan(r.stdout.toString());
    said = r?.stderr.trim() ?? 'no answer';
    if (!r) mute++;
    else if (!/-16\b|busy/i.test(said)) break;
    await sleep(1000);
  }
  throw new IngleError('unavailable', 'The radio cannot look for networks now. Try again in a moment.', {
    said: said.slice(0, 200),
  });
}

/** Global addresses of an interface, as text. */
export async function addresses(radio: string): Promise<string[]> {
  const r = await run('ip', ['-j', 'addr', 'show', 'dev', radio]);
  if (r.code !== 0) return [];
  const links = JSON.parse(r.stdout.toString() || '[]') as {
    addr_info?: { local: string; scope: string; tentative?: boolean }[];
  }[];
  return links.flatMap((l) =>
    (l.addr_info ?? []).filter((a) => a.scope === 'global' && !a.tentative).map((a) => a.local),
  );
}

/** Sets the regulatory country of all radios. */
export async function setCountry(code: string): Promise<void> {
  await must('iw', ['reg', 'set', code]);
}

/** Makes an interface a plain station again: no beacon, no address. A radio that is gone is fine. */
export async function plain(radio: string): Promise<void> {
  await run('ip', ['link', 'set', radio, 'down']);
  await run('ip', ['addr', 'flush', 'dev', radio]);
  await run('iw', ['dev', radio, 'set', 'type', 'managed']);
}
