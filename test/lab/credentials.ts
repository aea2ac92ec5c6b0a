// navigator.credentials as a page has it, by a software authenticator: what spa/passkey.ts speaks with, in Node.
import type { authenticator, Misbehaviour } from './authenticator.ts';

type Device = ReturnType<typeof authenticator>;
type Options = PublicKeyCredentialRequestOptions & PublicKeyCredentialCreationOptions;

const b64 = (b: BufferSource) => Buffer.from(b as ArrayBuffer).toString('base64url');
const buffer = (text: unknown) => Uint8Array.from(Buffer.from(String(text), 'base64url')).buffer;

class Credential {}

/** Puts a browser's globals in place, at `origin` and with `device` in it. `asked` is what reached the authenticator. */
export function installCredentials(origin: string, device: () => Device) {
  const asked: Options[] = [];
  const host = new URL(origin).hostname;
  /** What a browser does before it asks the authenticator (Level 3, section 5.1.4). */
  function judged(o: Options, rpId: string | undefined): Misbehaviour {
    asked.push(o);
    if ((rpId ?? host) !== host) throw new DOMException('not our relying party', 'SecurityError');
    const verification = o.userVerification ?? o.authenticatorSelection?.userVerification;
    return verification === 'discouraged' ? { noUserVerification: true } : {};
  }
  function wrapped(made: Record<string, unknown> & { id: string }): Credential {
    const given = made['response'] as Record<string, unknown>;
    const bytes = Object.entries(given).filter(([, v]) => typeof v === 'string');
    return Object.assign(new Credential(), {
      id: made.id,
      rawId: buffer(made.id),
      type: 'public-key',
      getClientExtensionResults: () => ({}),
      response: {
        ...Object.fromEntries(bytes.map(([k, v]) => [k, buffer(v)])),
        getTransports: () => given['transports'],
      },
    });
  }
  const credentials = {
    async get({ publicKey: o }: { publicKey: Options }) {
      const wrong = judged(o, o.rpId);
      const allowCredentials = o.allowCredentials?.map((c) => ({ id: b64(c.id) }));
      return wrapped(device().get({ challenge: b64(o.challenge), rpId: host, allowCredentials }, wrong));
    },
    async create({ publicKey: o }: { publicKey: Options }) {
      const wrong = judged(o, o.rp.id);
      const user = { id: b64(o.user.id) };
      return wrapped(device().create({ challenge: b64(o.challenge), rp: { id: host }, user }, wrong));
    },
  };
  const globals = {
    window: { isSecureContext: true },
    location: new URL(origin),
    PublicKeyCredential: Credential,
    navigator: { credentials, userAgent: 'Firefox Linux' },
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return { asked };
}
