// A phone for a test: Chromium with a virtual authenticator, and the steps a person takes in it.
import { mkdirSync, readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { frameKind, resetReason } from '../../../firmware/protocol/wire.ts';
import type { House } from '../../../services/cli/house/house.ts';

/** For a machine that hangs, not for a slow one. */
export const patience = 60_000;

/**
 * The list below its address bar, which is a page in a process of its own, and a process that waits for the next page:
 * nobody sees them, and they cost as much as some pages do. And what Playwright disables, as the last such flag counts.
 */
const disabled = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];

/** Chromium as tests use it; one a file, ended with the file. @param more further words of its command line */
export function launch(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabled.join(',')}`,
      ...more,
    ],
  });
}

export interface Credential {
  credentialId: string;
  isResidentCredential: boolean;
  privateKey: string;
  signCount: number;
  rpId?: string;
  userHandle?: string;
}

export interface Authenticator {
  credentials(): Promise<Credential[]>;
  /** Puts a passkey in, as a synced one appears on another device. */
  add(c: Credential): Promise<void>;
  /** From now on every signature is false. */
  bogus(on: boolean): Promise<void>;
  /** Whether the person touches; without it a prompt waits. */
  touch(on: boolean): Promise<void>;
  /** Whether the person is recognised; without it a prompt ends with an error. */
  recognise(on: boolean): Promise<void>;
}

export interface Phone {
  context: BrowserContext;
  page: Page;
  passkeys: Authenticator;
  cdp: CDPSession;
  /** What the console said at level error, and uncaught errors. */
  errors: string[];
  close(): Promise<void>;
}

export interface PhoneOptions {
  locale?: string;
  size?: { width: number; height: number };
  dark?: boolean;
  /** Nothing on the page moves by itself. */
  still?: boolean;
  /** No authenticator at all. */
  bare?: boolean;
  /** In an existing context: a second tab. */
  context?: BrowserContext;
}

export async function authenticatorOf(page: Page): Promise<{ cdp: CDPSession; passkeys: Authenticator }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const passkeys: Authenticator = {
    credentials: async () =>
      (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials as Credential[],
    add: async (credential) =>
      void (await cdp.send('WebAuthn.addCredential', { authenticatorId, credential })),
    bogus: async (on) =>
      void (await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId, isBogusSignature: on })),
    touch: async (enabled) =>
      void (await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })),
    recognise: async (isUserVerified) =>
      void (await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
  };
  return { cdp, passkeys };
}

export async function phone(browser: Browser, o: PhoneOptions = {}): Promise<Phone> {
  const context =
    o.context ??
    (await browser.newContext({
      locale: o.locale ?? 'en',
      viewport: o.size ?? { width: 390, height: 844 },
      colorScheme: o.dark ? 'dark' : 'light',
      reducedMotion: o.still ? 'reduce' : 'no-preference',
      hasTouch: (o.size?.width ?? 390) < 600,
    }));
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const errors: string[] = [];
  page.on('pageerror', (e) => errors.push(e.stack ?? e.message));
  page.on('console', (m) => {
    // Chromium writes every answer of 400 and more there, and a script of a worker it cannot have; those are checked by
    // what the page says.
    if (
      m.type() === 'error' &&
      !/Failed to load resource|WebSocket connection|net::ERR|when fetching the script/.test(m.text())
    )
      errors.push(m.text());
  });
  const { cdp, passkeys } = await authenticatorOf(page);
  return { context, page, cdp, passkeys, errors, close: () => (o.context ? page.close() : context.close()) };
}

/** Takes X25519 out of the page's WebCrypto, as in browsers older than its standard. */
export function withoutX25519(page: Page): Promise<unknown> {
  // As text: what the compiler adds to a function is not known in the page.
  return page.addInitScript({
    content: `for (const [name, at] of [['importKey', 2], ['generateKey', 0], ['deriveBits', 0]]) {
      const own = crypto.subtle[name].bind(crypto.subtle);
      Object.defineProperty(crypto.subtle, name, {
        value: (...args) => (args[at]?.name ?? args[at]) === 'X25519'
          ? Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError'))
          : own(...args),
      });
    }`,
  });
}

/** Waits until the page of that name shows. */
export async function at(page: Page, name: string): Promise<void> {
  await page.locator(`[data-page="${name}"]`).waitFor();
}

export async function press(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('button', { name }).click();
}

/**
 * Puts somebody on the page's way to root, before it is opened. What is given back slips two bytes in the clear into the
 * channel, "the hub does not know this browser", until the page says so.
 */
export async function slipper(page: Page): Promise<() => Promise<void>> {
  let slip: ((m: string | Buffer) => void) | undefined;
  await page.routeWebSocket(/socket\.io/, (ws) => {
    ws.connectToServer();
    slip = (m) => ws.send(m);
  });
  return async () => {
    const sid = await page.evaluate(() => JSON.parse(sessionStorage.getItem('ingle.session')!).sid as string);
    const m = { sid, frame: { _placeholder: true, num: 0 }, ctr: 1 };
    const shown = at(page, 'unknown').then(() => true);
    while (!(await Promise.race([shown, page.waitForTimeout(2).then(() => false)]))) {
      slip!(`451-/owner,${JSON.stringify(['relay.to_browser', m])}`);
      slip!(Buffer.from([frameKind.reset, resetReason.unknownBrowser]));
    }
  };
}

/** Until the status bar says the hub is there. */
export async function online(page: Page): Promise<void> {
  await page.locator('[data-link="up"]').waitFor();
}

/** From a link in hand to the desktop, with a first passkey. */
export async function pairByLink(p: Phone, house: House, o: { newPasskey?: boolean } = {}): Promise<void> {
  const code = await house.issueCode(o);
  await p.page.goto(code.link);
  await at(p.page, 'register');
  await press(p.page, 'Make a passkey');
  await approve(p);
}

/** The touch the hub asks for, then the desktop. */
export async function approve(p: Phone): Promise<void> {
  await at(p.page, 'approve');
  await press(p.page, 'Confirm with passkey');
  await at(p.page, 'desktop');
  await online(p.page);
}

/** Opens the window of the hub's status, past the passkey where it is asked for. */
export async function openStatus(page: Page): Promise<void> {
  await page.locator('.tile[data-skill="hub_status"] .open').click();
  const live = page.locator('[data-live="yes"]');
  const gate = page.locator('.window').getByRole('button', { name: 'Confirm with passkey' });
  await live.or(gate).first().waitFor();
  if (await gate.isVisible()) await gate.click();
  await live.waitFor();
}

/** Opens the settings, and the page in them whose button begins with `name`. */
export async function openPage(
  page: Page,
  name: string,
  menu = 'Menu',
  settings = 'Settings',
): Promise<void> {
  await press(page, menu);
  await page.locator('.menu').getByRole('button', { name: settings }).click();
  await page
    .locator('[data-window="@settings"]')
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click();
}

/** Answers the question that stands over the page. @returns what it says */
export async function answer(page: Page, yes: boolean): Promise<string> {
  const question = page.locator('dialog.question');
  await question.waitFor();
  const says = await question.innerText();
  if (yes) await question.locator('.danger').click();
  else await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  return says;
}

/** Asks the hub's own API on its loopback, as the owner at it. */
export async function askHub(
  house: House,
  path: string,
  o: { method?: string; body?: object } = {},
): Promise<Response> {
  const { owner_id } = (await house.status()).uplink;
  const principal = { owner_id, browser: 'at_the_hub', role: 'owner', elevated_until: 4e9 };
  return fetch(house.api + path, {
    ...(o.method ? { method: o.method } : {}),
    ...(o.body ? { body: JSON.stringify(o.body) } : {}),
    headers: {
      'x-service-token': readFileSync(`${house.data}/hub/api/token`, 'utf8').trim(),
      'x-ingle-principal': Buffer.from(JSON.stringify(principal)).toString('base64url'),
    },
  });
}

/** The rows of a table of the page's database, counted. */
export function countKept(page: Page, table: string): Promise<number> {
  return page.evaluate(
    (name) =>
      new Promise<number>((ok) => {
        const r = indexedDB.open('ingle');
        r.onsuccess = () => {
          const c = r.result.transaction(name).objectStore(name).count();
          c.onsuccess = () => {
            r.result.close();
            ok(c.result);
          };
        };
      }),
    table,
  );
}

const folder = 'dist/screenshots';
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
}
