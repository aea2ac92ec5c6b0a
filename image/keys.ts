// Keys that sign update bundles: a CA, and under it the certificate that signs. By openssl, outside the repository.
//   npm run image -- keys make|show|rotate|rollover|retire [folder]
import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { IngleError } from '../firmware/protocol/errors.ts';
import { must } from '../firmware/system/exec.ts';
import { need } from './host.ts';

export interface Keys {
  dir: string;
  /** Certificate and key that sign a bundle (rauc bundle --cert, --key). */
  cert: string;
  key: string;
  /** CAs a device trusts (/etc/rauc/keyring.pem). */
  keyring: string;
  /** Made by a build that was given none: whoever has this checkout can sign for such an image. */
  development: boolean;
}

/** RAUC refuses a certificate out of its time: long for the CA. */
const days = { ca: 30 * 365, signing: 5 * 365 };
/** A hub without a battery and a network has the time its image was built at, so certificates begin before any was. */
const since = '20240101000000Z';
/** Both purposes, so that a bundle verifies with RAUC's check-purpose codesign and with its default. */
const extensions = {
  ca: 'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n',
  signing:
    'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=codeSigning,emailProtection\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n',
};

export const defaultDir = (): string => join(homedir(), '.config', 'ingle', 'keys');

const at = (dir: string, development = false): Keys => ({
  dir,
  cert: join(dir, 'signing.pem'),
  key: join(dir, 'signing.key'),
  keyring: join(dir, 'keyring.pem'),
  development,
});

/** A key in a checkout is a key in a commit sooner or later. @throws IngleError `forbidden` */
export function checkOutside(dir: string): void {
  let there = resolve(dir);
  while (!existsSync(there)) there = dirname(there);
  for (let up = realpathSync(there); ; up = dirname(up)) {
    if (existsSync(join(up, '.git')))
      throw new IngleError(
        'forbidden',
        `${dir} lies in the repository ${up}. Signing keys belong outside of any; the default is ${defaultDir()}.`,
      );
    if (up === dirname(up)) return;
  }
}

/** A new key and its certificate. `ca` signs it; without one it signs itself. */
async function issue(
  dir: string,
  name: 'ca' | 'signing',
  subject: string,
  ca?: { key: string; cert: string },
): Promise<void> {
  const work = mkdtempSync(join(dir, '.new-'));
  const file = (ending: string) => join(work, `${name}.${ending}`);
  try {
    // RSA signs the same bytes the same way each time, so two builds of one commit are equal.
    const bits = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:3072', '-quiet'];
    await must('openssl', ['genpkey', ...bits, '-out', file('key')]);
    chmodSync(file('key'), 0o600);
    await must('openssl', [
      'req',
      '-new',
      '-key',
      file('key'),
      '-subj',
      `/CN=${subject}`,
      '-out',
      file('csr'),
    ]);
    writeFileSync(file('ext'), extensions[name]);
    // "openssl ca" and not "x509", which cannot set the beginning before OpenSSL 3.4.
    writeFileSync(file('index'), '');
    writeFileSync(file('serial'), serial());
    const conf = ['[ca]', 'default_ca=here', '[here]', `database=${file('index')}`, `new_certs_dir=${work}`];
    conf.push(
      `serial=${file('serial')}`,
      'default_md=sha256',
      'policy=names',
      '[names]',
      'commonName=supplied',
    );
    writeFileSync(file('conf'), `${conf.join('\n')}\n`);
    const signer = ca ? ['-cert', ca.cert, '-keyfile', ca.key] : ['-selfsign', '-keyfile', file('key')];
    await must('openssl', [
      ...['ca', '-batch', '-notext', '-config', file('conf'), '-in', file('csr'), '-out', file('pem')],
      ...['-extfile', file('ext'), '-startdate', since, '-days', String(days[name]), ...signer],
    ]);
    // The certificate last: a key without one is not taken for a pair.
    for (const ending of ['key', 'pem']) renameSync(file(ending), join(dir, `${name}.${ending}`));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** 127 random bits, positive (RFC 5280, 4.1.2.2). */
function serial(): string {
  return `4${crypto.randomUUID().replace(/-/g, '').slice(1)}`.toUpperCase();
}

function writeKeyring(dir: string, pems: readonly string[]): void {
  writeFileSync(join(dir, '.keyring'), pems.map((p) => `${p.trim()}\n`).join(''), { mode: 0o644 });
  renameSync(join(dir, '.keyring'), join(dir, 'keyring.pem'));
}

function needs(dir: string, file: string): string {
  const path = join(dir, file);
  if (!existsSync(path))
    throw new IngleError(
      'not_found',
      `There is no ${path}. Make keys with: npm run image -- keys make ${dir}`,
    );
  return readFileSync(path, 'utf8');
}

const certificates = (pem: string): string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
const today = () => new Date().toISOString().slice(0, 10);

/** Puts a pair that is replaced aside; it stays good until its CA leaves the keyrings. */
function putAside(dir: string, name: 'ca' | 'signing'): void {
  const aside = join(dir, 'replaced', `${new Date().toISOString().replace(/[:.]/g, '-')}`);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  for (const ending of ['key', 'pem'])
    if (existsSync(join(dir, `${name}.${ending}`)))
      renameSync(join(dir, `${name}.${ending}`), join(aside, `${name}.${ending}`));
}

/** Makes a CA, a signing certificate under it and the keyring. @throws IngleError `conflict` when there are keys */
export async function makeKeys(dir: string, maker = 'Ingle'): Promise<Keys> {
  checkOutside(dir);
  if (existsSync(join(dir, 'ca.key')))
    throw new IngleError('conflict', `There are keys in ${dir} already. "keys rotate" renews what signs.`);
  return fresh(dir, maker, false);
}

async function fresh(dir: string, maker: string, development: boolean): Promise<Keys> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  await issue(dir, 'ca', `${maker} update CA ${today()}`);
  const ca = { key: join(dir, 'ca.key'), cert: join(dir, 'ca.pem') };
  await issue(dir, 'signing', `${maker} updates ${today()}`, ca);
  writeKeyring(dir, [readFileSync(ca.cert, 'utf8')]);
  return at(dir, development);
}

/** A new signing certificate under the present CA; devices take its bundles without any change. */
export async function rotateKeys(dir: string): Promise<Keys> {
  checkOutside(dir);
  needs(dir, 'ca.key');
  const maker = makerOf(needs(dir, 'ca.pem'));
  putAside(dir, 'signing');
  await issue(dir, 'signing', `${maker} updates ${today()}`, {
    key: join(dir, 'ca.key'),
    cert: join(dir, 'ca.pem'),
  });
  return at(dir);
}

/**
 * A new CA. The keyring then holds both, and bundles are signed by the old one until devices carry that keyring:
 * release one such update, then `rotate` (bundles are signed under the new CA), and at last `retire`.
 */
export async function rolloverKeys(dir: string): Promise<Keys> {
  checkOutside(dir);
  const maker = makerOf(needs(dir, 'ca.pem'));
  const old = certificates(needs(dir, 'keyring.pem'));
  putAside(dir, 'ca');
  await issue(dir, 'ca', `${maker} update CA ${today()}`);
  writeKeyring(dir, [readFileSync(join(dir, 'ca.pem'), 'utf8'), ...old]);
  return at(dir);
}

/** Takes every CA but the present one out of the keyring. @throws IngleError `conflict` while an old one signs */
export function retireKeys(dir: string): Keys {
  checkOutside(dir);
  const ca = needs(dir, 'ca.pem');
  if (!new X509Certificate(needs(dir, 'signing.pem')).verify(new X509Certificate(ca).publicKey))
    throw new IngleError(
      'conflict',
      'The old CA still signs. First release an update with both in its keyring, then "keys rotate".',
    );
  writeKeyring(dir, [ca]);
  return at(dir);
}

function makerOf(ca: string): string {
  return /CN=(.*?) update CA /.exec(new X509Certificate(ca).subject)?.[1] ?? 'Ingle';
}

/** What is there, for a person. */
export function showKeys(dir: string): string[] {
  const line = (what: string, pem: string) => {
    const c = new X509Certificate(pem);
    const name = /CN=(.*)/.exec(c.subject)?.[1] ?? '';
    return `${what.padEnd(9)}${name}, until ${c.validTo}\n         SHA-256 ${c.fingerprint256}`;
  };
  const signing = needs(dir, 'signing.pem');
  const ring = certificates(needs(dir, 'keyring.pem'));
  const by = ring.find((pem) => new X509Certificate(signing).verify(new X509Certificate(pem).publicKey));
  return [
    line('signs', signing),
    ...ring.map((pem) => line(pem === by ? 'its CA' : 'trusted', pem)),
    ...(by ? [] : ['NO DEVICE TAKES WHAT THIS SIGNS: its CA is not in the keyring.']),
  ];
}

/** Keys of a build that was given none; made once under .cache, which git leaves out. */
export async function developmentKeys(top: string): Promise<Keys> {
  const dir = join(top, '.cache', 'image', 'development-keys');
  if (['signing.pem', 'signing.key', 'keyring.pem'].every((f) => existsSync(join(dir, f))))
    return at(dir, true);
  rmSync(dir, { recursive: true, force: true });
  return fresh(dir, 'DEVELOPMENT (DO NOT SHIP)', true);
}

/**
 * The keys of a build: `given`, else those of the default folder, else development keys, which is said aloud.
 * @throws IngleError `not_found` when `given` holds none
 */
export async function keysFor(
  top: string,
  given: string | undefined,
  say: (line: string) => void,
): Promise<Keys> {
  const dir = given ?? defaultDir();
  if (given !== undefined || existsSync(join(dir, 'signing.key'))) {
    for (const file of ['signing.pem', 'signing.key', 'keyring.pem']) needs(dir, file);
    return at(dir);
  }
  const keys = await developmentKeys(top);
  say('******************************************************************************');
  say('DEVELOPMENT KEYS: this image and its updates are signed by a key of this checkout.');
  say('Never ship it. Make keys of your own: npm run image -- keys make');
  say('******************************************************************************');
  return keys;
}

/** `npm run image -- keys …` */
export async function runKeys(args: readonly string[]): Promise<void> {
  const [what = 'show', folder] = args;
  const dir = resolve(folder ?? defaultDir());
  const work: Record<string, () => Promise<Keys> | Keys | undefined> = {
    make: () => makeKeys(dir),
    rotate: () => rotateKeys(dir),
    rollover: () => rolloverKeys(dir),
    retire: () => retireKeys(dir),
    show: () => undefined,
  };
  const act = Object.hasOwn(work, what) ? work[what] : undefined;
  if (!act) throw new IngleError('invalid_request', 'keys takes make, show, rotate, rollover or retire.');
  await need(['openssl']);
  await act();
  process.stdout.write(`${dir}\n${showKeys(dir).join('\n')}\n`);
  if (what === 'make')
    process.stderr.write(
      'Keep a copy of this folder in a safe place: without ca.key no device can be updated.\n',
    );
}
