// What root answers a browser that comes in, for root and the application.
import * as T from 'typebox';

const text = (description?: string) => T.String(description ? { description } : {});
const ids = { owner_id: text(), subnet_id: text(), hub_id: text() };

export const opened = T.Object({
  sid: text(),
  stage: text(),
  browser: T.Optional(
    text('What binds the sid to the browser, where a host other than root serves the application.'),
  ),
});
export type Opened = T.Static<typeof opened>;

export const verified = T.Object({
  ok: T.Literal(true),
  ...ids,
  new_passkey: T.Optional(T.Literal(true, { description: 'The hub approved a passkey with the code.' })),
});
export type Verified = T.Static<typeof verified>;

/** Web Authentication Level 3, section 5.1.8: both are options as JSON. */
export const creation = T.Object({ publicKeyCredentialCreationOptions: T.Unknown() });
export type Creation = T.Static<typeof creation>;
export const requested = T.Object({ publicKeyCredentialRequestOptions: T.Unknown() });
export type Requested = T.Static<typeof requested>;

export const registered = T.Object({ browser_key_id: text() });

export const entered = T.Object({
  session_jwt: text('Bearer token of the session.'),
  browser_key_id: text(),
  public_key: text('Of the passkey: COSE, base64url.'),
  ...ids,
});
export type Entered = T.Static<typeof entered>;

export const routed = T.Object({ routed_to_hub: T.Boolean() });
