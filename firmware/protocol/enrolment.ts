// What root answers a hub, for root; a hub believes none of it unread (firmware/uplink/root-answers.ts).
import * as T from 'typebox';

const text = (description?: string) => T.String(description ? { description } : {});
const ids = { owner_id: text(), subnet_id: text(), hub_id: text() };
const certificate = { certificate: text('JWT.'), expires_at: T.Integer({ description: 'Unix seconds.' }) };

export const issued = T.Object({
  device_code: text('Six digits, a hyphen between them.'),
  verify_uri: text(),
  expires_in: T.Integer({ description: 'Seconds.' }),
  taken_ago: T.Optional(
    T.Integer({ description: 'Seconds since somebody took the code before; said once.' }),
  ),
});
export type Issued = T.Static<typeof issued>;

export const certified = T.Object({ hub_id: text(), ...certificate });
export type Certified = T.Static<typeof certified>;

export const enrolled = T.Object({
  ...ids,
  app_url: text('Origin of the application.'),
  ...certificate,
  parted: T.Optional(text('What the hub that led its subnet has signed on letting it go.')),
});
export type Enrolled = T.Static<typeof enrolled>;

export const joined = T.Object(ids);
export type Joined = T.Static<typeof joined>;
