// What the suites of root's records share: hubs, sessions and passkeys made by the verbs only, on a clock of theirs.
import type { Test as Suite } from 'uvu';
import type { IngleError } from '../../../firmware/protocol/errors.ts';
import type { By, Hub, NewPasskey, Records } from '../../../root/records/records.ts';

/** Opens records with nothing in them, in the database that is tested. */
export type Open = () => Promise<Records>;
export type Test = Suite<{ records: Records }>;

/** The suites' present, Unix seconds. */
export const T = 1_000_000;
export const LATER = T + 10_000;

/** Of the trail: nobody in particular. */
export const nobody: By = { browser_key_id: null, by_hub: null, by_command: '', place: '' };

export const ids = (name: string) => ({
  hub_id: `hub_${name}`,
  owner_id: `own_${name}`,
  subnet_id: `net_${name}`,
});

export function enrol(records: Records, name: string, now = T): Promise<Hub> {
  return records.hubs.enrol({
    sign_pub: `sign_${name}`,
    e2e_pub: `e2e_${name}`,
    derived: ids(name),
    random: ids(`random_${name}`),
    now,
  });
}

/** Opens a code for a hub, with something in each field that is not given. */
export function issue(records: Records, hub: Hub, code: string, more: { [field: string]: unknown } = {}) {
  const { hub_id, owner_id } = hub;
  const given = { hub_id, owner_id, scope: '', network: '', ticket: '', exp: LATER, now: T, ...more };
  let drawn = false;
  return records.codes.issue(given, () => {
    if (drawn) throw new Error(`${code} is not free`);
    drawn = true;
    return code;
  });
}

export function take(records: Records, sid: string, code: string, more: { [field: string]: unknown } = {}) {
  return records.codes.take({
    sid,
    code,
    ticket: '',
    network: '',
    place: 'here',
    now: T,
    exp: LATER,
    ...more,
  });
}

/** A session that took a code of a hub. */
export async function preauth(records: Records, sid: string, hub: Hub, scope = '') {
  await records.sessions.begin({ sid, cookie: `cookie of ${sid}`, now: T });
  await issue(records, hub, `code of ${sid}`, { scope });
  await take(records, sid, `code of ${sid}`);
}

export const passkey = (id: string, hub: Hub, more: Partial<NewPasskey> = {}): NewPasskey => ({
  cred_id: id,
  owner_id: hub.owner_id,
  browser_key_id: `key of ${id}`,
  browser_pubkey: new Uint8Array([1, 2, 3]),
  hub_id: hub.hub_id,
  sign_count: 7,
  transports: ['internal'],
  backed_up: false,
  ...more,
});

/** Registers a passkey on a session that took a code. */
export async function register(records: Records, sid: string, p: NewPasskey, now = T) {
  await records.passkeys.beginRegistration({ sid, challenge: 'c', exp: LATER }, now);
  return records.passkeys.register({ sid, passkey: p, now }, () => {});
}

export function login(
  records: Records,
  sid: string,
  hub: Hub,
  credId: string,
  more: { [field: string]: unknown } = {},
) {
  const { hub_id, subnet_id, owner_id } = hub;
  const given = {
    sid,
    owner_before: owner_id,
    cred_id: credId,
    sign_count: 8,
    hub_id,
    subnet_id,
    place: 'here',
  };
  return records.passkeys.login({ ...given, jti: `jti of ${sid}`, now: T, exp: LATER, ...more });
}

/** A session that took a code, registered a passkey and signed in by it. */
export async function signedIn(records: Records, sid: string, hub: Hub, credId = `cred of ${sid}`) {
  await preauth(records, sid, hub);
  await register(records, sid, passkey(credId, hub));
  await login(records, sid, hub, credId);
}

/** Gives a hub to the owner of another one. */
export async function handOver(records: Records, hub: Hub, to: Hub, by: By = nobody, now = T) {
  const { hub_id, owner_id } = hub;
  await records.estate.offer({ hub_id, owner_id, exp: LATER, by: nobody, now });
  await issue(records, hub, `code of ${hub_id}`, { now });
  const given = { code: `code of ${hub_id}`, ticket: '', network: '', owner_id: to.owner_id, by, now };
  return records.estate.take({ ...given, subnet_id: `net of ${hub_id}, ${to.hub_id}`, home: to.hub_id });
}

/** What a step is refused with; undefined when it is not. */
export function refusal(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (e: IngleError) => e.code ?? e.message,
  );
}
