// `ingle login`: a code on the terminal, and the wait for the browser that uses it.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import type { Say } from '../say.ts';
import { clock, grouped, plain, scanned } from '../show.ts';

/**
 * Settles once a browser is paired.
 * @throws IngleError `timeout` when the code expires, `pairing_failed` when it is burned, `unavailable` when the hub goes.
 */
export async function login(bus: Bus, say: Say, o: { newPasskey: boolean; json: boolean }): Promise<void> {
  const { stdout, env } = process;
  const live = stdout.isTTY === true && !o.json;
  const uplink = bus.client(uplink1);
  let settle: (e?: IngleError) => void = () => {};
  const over = new Promise<void>((resolve, reject) => {
    settle = (e) => (e ? reject(e) : resolve());
  });
  over.catch(() => {});
  const clear = () => live && stdout.write('\r\x1b[K');

  await bus.onSignal(uplink1, 'Paired', ({ browser, label }) => {
    clear();
    say.event({ event: 'paired', browser, label });
    say.line(say.text('loginPaired', { label: plain(label) || browser.slice(0, 8) }));
    settle();
  });
  await bus.onSignal(uplink1, 'PairingFailed', ({ reason, left }) => {
    clear();
    say.event({ event: 'pairing_failed', reason, left });
    say.line(say.text('pairFailed', { reason: plain(reason), left }));
    if (left === 0) settle(new IngleError('pairing_failed', say.text('loginBurned')));
  });
  bus.closed.then(() => settle(new IngleError('unavailable', say.text('noHouse'))));
  const unwatch = await bus.watchName(uplink1.bus, (owner) => {
    if (!owner) settle(new IngleError('unavailable', say.text('noHouse')));
  });

  const { insecure } = await uplink.Status({});
  const code = await uplink.IssueCode({ new_passkey: o.newPasskey });
  const expires = Number(code.expires_at);
  const left = () => expires - Date.now() / 1000;
  const minutes = Math.max(1, Math.round(left() / 60));
  say.event({ event: 'code', ...code, expires_at: expires, ...(insecure ? { insecure } : {}) });
  if (code.taken) say.line(say.text('loginTaken'));
  say.line(say.text('loginOpen', { page: code.verify_uri, code: grouped(code.device_code, code.secret) }));
  say.line(say.text('loginValid', { minutes }));
  say.line(`${say.text('loginLink')}\n\n  ${code.link}\n`);
  say.line(scanned(code.link, stdout.isTTY === true && !env['NO_COLOR'], say));
  if (insecure) say.line(insecureLines(say, code));

  const tick = () => {
    if (left() <= 0) settle(new IngleError('timeout', say.text('loginExpired')));
    else if (live) stdout.write(`\r\x1b[K${say.text('loginWaiting', { left: clock(left()) })}`);
  };
  if (!live) say.line(say.text('loginWaiting', { left: clock(left()) }));
  tick();
  const timer = setInterval(tick, 1000);
  try {
    await over;
  } finally {
    clearInterval(timer);
    clear();
    await unwatch().catch(() => {});
  }
}

/** What is said beside a code while the hub's insecure debug mode is on, with the link that uses it. */
export function insecureLines(say: Say, code: { link: string; device_code: string }): string {
  const link = `${new URL(code.link).origin}/#insecure.${code.device_code.replace(/\D/g, '')}`;
  return `${say.text('insecure')}\n${say.text('insecureLink')}\n\n  ${link}\n`;
}
