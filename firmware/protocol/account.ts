// What root answers of an owner's account, for root, the page of access and `ingle account`. Times are Unix seconds.
import * as T from 'typebox';

const text = (description?: string) => T.String(description ? { description } : {});
const time = (description?: string) => T.Integer(description ? { description } : {});
const orNull = <S extends T.TSchema>(schema: S, description: string) =>
  T.Union([schema, T.Null()], { description });
const place = text("The network of it, cut to /24 or /48; '' where it is not known.");
const browserKey = orNull(text(), 'Its passkey; null where none was used.');

export const signIn = T.Object({
  id: text(),
  current: T.Boolean(),
  browser_key_id: browserKey,
  passkey: text("What its passkey is called; '' for nothing."),
  name: text("What its owner calls it; '' for nothing."),
  command: text("What a command line calls itself; '' for a browser."),
  guest: T.Boolean(),
  hub_id: orNull(text(), 'The hub it is at; null before it is at one.'),
  stage: text(),
  connected: T.Boolean(),
  place,
  last_seen_at: time(),
  expires_at: time(),
});
export type SignIn = T.Static<typeof signIn>;

export const passkey = T.Object({
  id: text(),
  browser_key_id: text(),
  name: text("What its owner calls it; '' for nothing."),
  guest: T.Boolean(),
  current: T.Boolean(),
  sign_count: T.Integer(),
  sign_count_went_back: orNull(T.Integer(), 'When its counter last went back: a copy of it may exist.'),
  backed_up: T.Boolean(),
  created_at: time(),
  last_used_at: time(),
});
export type Passkey = T.Static<typeof passkey>;

export const ownedHub = T.Object({
  hub_id: text(),
  name: text("What its owner calls it at root; '' for nothing."),
  current: T.Boolean(),
  online: T.Boolean(),
  last_seen_at: orNull(T.Integer(), 'Null where it is not known.'),
  certificate_expires_at: orNull(T.Integer(), 'Null where it is not known.'),
  keys_changed_at: orNull(T.Integer(), 'Null where they never changed.'),
  enrolled_at: time(),
  via: orNull(text(), 'The hub that leads it in a subnet.'),
  members: T.Array(text(), { description: 'Those it leads.' }),
  offered_until: orNull(T.Integer(), 'While it is offered to another owner.'),
});
export type OwnedHub = T.Static<typeof ownedHub>;

export const entry = T.Object({
  n: T.Integer(),
  at: time(),
  what: text(),
  browser_key_id: browserKey,
  by_hub: orNull(text(), 'The hub that did it.'),
  by_command: text("The command line that did it; '' for none."),
  place,
  about: text(),
  name: text(),
});
export type Entry = T.Static<typeof entry>;

/** RFC 8628, section 3.2. */
export const asked = T.Object({
  device_code: text(),
  user_code: text(),
  verification_uri: text(),
  expires_in: T.Integer({ description: 'Seconds.' }),
  interval: T.Integer({ description: 'Seconds between two questions.' }),
});
export type Asked = T.Static<typeof asked>;

export const became = T.Union([
  T.Object({ state: T.Literal('asking'), interval: T.Integer() }),
  T.Object({ state: T.Literal('allowed'), token: text(), expires_at: time(), owner_id: text() }),
]);
export type Became = T.Static<typeof became>;

/** A command line that asks to be let in. */
export const asking = T.Object({
  id: text(),
  name: text(),
  place,
  asked_at: time(),
  expires_at: time(),
  publicKeyCredentialRequestOptions: T.Unknown(),
});
export type Asking = T.Static<typeof asking>;
