// A root in memory, without sockets: typed codes meet the real records, tokens and budget.
import { type CodeWish, issueCode, verifyCode, wishOf } from '../../root/codes.ts';
import { readConfig } from '../../root/config.ts';
import { openGuesses } from '../../root/guesses.ts';
import { tooMany } from '../../root/limit.ts';
import type { Hub } from '../../root/records/records.ts';
import { openSqlite } from '../../root/records/sqlite.ts';
import type { Root } from '../../root/root.ts';
import { browserOf, openSession, sessionOf } from '../../root/session.ts';
import { openTokens } from '../../root/tokens.ts';

/** Wrong typed codes in ten minutes before only near ones count: root's default. */
export const BUDGET = readConfig([], {}).guesses;

export async function rootInMemory() {
  const records = await openSqlite(':memory:');
  const names = { hub_id: 'h', owner_id: 'o', subnet_id: 'n' };
  const hub: Hub = { ...names, sign_pub: 's', e2e_pub: 'e' };
  await records.hubs.enrol({ sign_pub: 's', e2e_pub: 'e', derived: names, random: names, now: 0 });
  const tokens = await openTokens(records, 'http://localhost');
  /** What root's other pieces were told. */
  const heard = {
    failed: 0,
    checks: [] as [string, string][],
    dropped: [] as string[],
    macs: new Set<string>(),
  };
  /** Set to make the proof of work, or the store, refuse. */
  const refuse = { work: false };
  const root = {
    records,
    tokens: {
      ...tokens,
      mac(purpose: string, text: string) {
        heard.macs.add(purpose);
        return tokens.mac(purpose, text);
      },
    },
    surge: {
      failed: () => heard.failed++,
      check(sid: string, pow: string) {
        heard.checks.push([sid, pow]);
        if (refuse.work) throw tooMany(1, { pow: 'some' });
      },
    },
    guesses: openGuesses(BUDGET),
    ways: { drop: (sid: string) => heard.dropped.push(sid) },
    config: { origin: 'http://localhost', api: 'http://localhost' },
  } as unknown as Root;
  const home = '198.51.100.7';
  const ticket = 'T'.repeat(22);
  const issue = async (claims: object = { ticket }) =>
    (await issueCode(root, hub, wishOf(claims as Record<string, unknown>, home))).device_code;
  /** A sid that has become a record, as it does before its first code is looked at. */
  const newSid = async () => {
    const { body, cookie } = await openSession(root, '', undefined);
    return (await sessionOf(root, body.sid, browserOf(root, cookie!.split(';')[0]!, ''))).sid;
  };
  const type = async (code: string, ip: string, ticket = '') => {
    const sid = await newSid();
    return verifyCode(root, sid, { code, ip, ticket, pow: '' }).then(
      () => 'taken',
      (e) => (e.details?.near ? 'near' : e.code),
    );
  };
  const wish = (more: Partial<CodeWish> = {}): CodeWish => ({
    ...{ ip: home, scope: '', ticket: '', passkeys: undefined, guests: new Set<string>() },
    ...more,
  });
  return { root, hub, home, ticket, heard, refuse, issue, type, newSid, wish };
}

/** The `i`th of other codes than `code`. */
export const wrong = (code: string, i: number) =>
  String((Number(code.replace('-', '')) + 1 + i) % 1_000_000).padStart(6, '0');

/** Addresses in as many networks. */
export const address = (i: number) => `${100 + Math.floor(i / 65_536)}.${(i >> 8) & 255}.${i & 255}.9`;
