// The words of the local API's endpoints: who may call, and how a caller shows who it is.
import type { Area } from '../protocol/endpoint/endpoint.ts';
import type { Described } from '../protocol/endpoint/openapi.ts';
import { type CallerRole, roles } from '../protocol/roles.ts';

/**
 * `public`: anybody on this computer. `token`: the holder of the service token, whomever it names. `household`: local
 * control, and everybody but guests. `owner`: local
 * control, or the owner. `elevated`: local control, or the owner with a passkey checked lately. `skill`: whoever may use
 * the skill of the path. `member`: another hub of the subnet, over its channel. `subnet`: local control, the owner, and
 * members. `signed`: whoever signs with the secret of what the path names.
 */
export type LocalWho =
  | 'public'
  | 'token'
  | 'household'
  | 'owner'
  | 'elevated'
  | 'skill'
  | 'member'
  | 'subnet'
  | 'signed';

/** Whom each word lets in at most; a skill's own paths are narrowed by its manifest. */
export const openTo: Readonly<Record<LocalWho, readonly CallerRole[]>> = {
  public: roles,
  token: roles,
  household: roles.filter((r) => r !== 'guest'),
  owner: ['owner'],
  elevated: ['owner'],
  skill: roles,
  member: ['member'],
  subnet: ['owner', 'member'],
  // Nobody has rights by it: it is for programs that sign.
  signed: [],
};

/** Declares endpoints of the local API. */
export const localArea = <const A extends Area<LocalWho>>(area: A): A => area;

export const localSecurity: Pick<Described, 'who' | 'schemes'> = {
  schemes: {
    token: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Service-Token',
      description:
        'The service token: /var/lib/ingle/api/token, or .ingle/hub/api/token beside npm start. Without X-Ingle-Principal it is local control.',
    },
    signature: {
      type: 'apiKey',
      in: 'header',
      name: 'webhook-signature',
      description:
        'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`; both go along as headers, the time in Unix seconds and at most 5 minutes off.',
    },
  },
  who: {
    public: { needs: [], doc: 'For anybody who reaches the address.' },
    token: { needs: ['token'], doc: 'For any holder of the service token.' },
    household: { needs: ['token'], doc: 'For local control and everybody but guests.' },
    owner: { needs: ['token'], doc: 'For local control and the owner.' },
    elevated: { needs: ['token'], doc: 'For local control, and the owner whose passkey was checked lately.' },
    skill: { needs: ['token'], doc: 'For whoever may use the skill.' },
    member: { needs: ['token'], doc: 'For a member of the subnet, over its channel, and nobody else.' },
    subnet: { needs: ['token'], doc: 'For local control, the owner and members of the subnet.' },
    signed: { needs: ['signature'], doc: 'For whoever signs with the secret of the hook.' },
  },
};
