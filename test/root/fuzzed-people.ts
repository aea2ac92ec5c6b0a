// Those who send hostile input: a hub and a browser with good papers, and what they know.
import { commandContext } from '../../firmware/protocol/pairing/command.ts';
import type { ProofPurpose } from '../../firmware/protocol/wire.ts';
import { type Line, openLine } from '../bench/_line.ts';
import { newCommandLine, type RootProcess, signedIn } from './kit.ts';

type Body = Record<string, unknown>;
/** What is called: of an endpoint's declaration. */
interface Callee {
  path: string;
  who: string;
}

/** A hub, a browser signed in to it, and their open connections. */
export async function person(root: RootProcess, heard: (text: string) => void) {
  const { hub, tab } = await signedIn(root);
  // One that is in, and one that asks.
  const [command, asking] = [await newCommandLine(root), await newCommandLine(root)];
  await command.comesIn(tab);
  const asks = await asking.find(tab);
  const lines = {} as Record<'/hub' | '/owner', Line | undefined>;
  async function open(namespace: '/hub' | '/owner'): Promise<Line> {
    const isHub = namespace === '/hub';
    const papers = isHub
      ? { hub_id: hub.hub_id, certificate: hub.certificate, proof: await hub.proof('socket') }
      : { token: tab.token, sid: tab.sid };
    const line = await openLine(root.port, namespace, papers, {
      ...(isHub ? hub : tab).from,
      cookie: tab.cookie,
    });
    line.tcp.on('error', () => {});
    line.onMessage = (binary, m) => {
      if (!binary) heard(m.toString());
    };
    const hello = isHub ? ['hub.online', hub.online()] : ['owner.online', tab.online()];
    line.text(`42${namespace},${JSON.stringify(hello)}`);
    return line;
  }
  const proof = async (purpose: ProofPurpose, more: Body) => hub.headers(purpose, more);
  return {
    hub,
    tab,
    command,
    asking,
    asks: asks.body.id as string,
    code: await hub.code(),
    // Kept, as making keys and proofs would take longer than all else.
    key: hub.e2e(),
    pub: hub.pub(),
    proof: await hub.proof('enrol'),
    async line(namespace: '/hub' | '/owner'): Promise<Line> {
      const line = lines[namespace];
      if (line && !line.tcp.destroyed) return line;
      lines[namespace] = await open(namespace);
      return lines[namespace];
    },
    /** What the caller of an endpoint shows. */
    async papers(e: Callee, more: Body = {}): Promise<Record<string, string>> {
      if (e.who === 'session' || e.who === 'account') return tab.bearer();
      if (e.who.startsWith('proof:')) return proof(e.who.slice(6) as ProofPurpose, more);
      return e.who === 'browser' ? { cookie: tab.cookie } : {};
    },
    close() {
      for (const line of Object.values(lines)) line?.tcp.destroy();
    },
  };
}
export type Person = Awaited<ReturnType<typeof person>>;

/** Values that reach something, by the name of a field. */
export function knownTo(p: Person): Record<string, unknown[]> {
  const { key } = p;
  return {
    sid: [p.tab.sid],
    device_code: [p.code, '000-000', p.asking.device_code],
    user_code: [p.asking.user_code],
    name: ['shell'],
    id: [p.asks],
    code: ['000000'],
    ticket: ['T'.repeat(22)],
    skill_id: ['dial'],
    page: ['panel'],
    hub_id: [p.hub.hub_id],
    subnet_id: [p.hub.subnet_id],
    session_jwt: [p.tab.token],
    browser_key_id: [p.tab.browser_key_id],
    caps: [p.hub.online().caps],
    e2e_pubkey: [key],
    hub_e2e_pubkey: [key],
    hub_e2e_pub: [key],
    e2e_pub: [key],
    sign_pub: [p.pub],
    signature: ['AAAA'],
    note: ['x'],
    proof: [p.proof],
    ctr: [1, 2 ** 40],
  };
}

/** A credential as the browser would make it now, for the endpoints that finish a ceremony. */
export async function credentialFor(e: Callee, p: Person): Promise<Body> {
  if (e.path.includes('command-lines')) {
    const { body } = await p.asking.find(p.tab);
    const options = body?.publicKeyCredentialRequestOptions ?? { challenge: 'AAAA', rpId: 'localhost' };
    return p.tab.keys.get(await p.tab.signing('login', options, commandContext(p.tab.sid, p.asks)));
  }
  const c = await p.tab.post(e.path.replace('finish', 'challenge'), { sid: p.tab.sid });
  const make = c.body?.publicKeyCredentialCreationOptions;
  const get = c.body?.publicKeyCredentialRequestOptions;
  if (make) return p.tab.keys.create(await p.tab.signing('registration', make));
  if (get) return p.tab.keys.get(await p.tab.signing('login', get));
  return p.tab.keys.get({ challenge: 'AAAA', rpId: 'localhost' });
}
