// `npm start` once everything is installed and built: the house, and a pairing code that is always valid.

import { type ErrorCode, errorTable, toIngleError } from '../../../firmware/protocol/errors.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import { translator } from '../../../firmware/text/i18n.ts';
import { installedTexts } from '../../../firmware/text/installed.ts';
import { uplink1 } from '../../../firmware/uplink/contract.ts';
import { insecureLines } from '../owner/login.ts';
import { languageOf, speaker } from '../say.ts';
import { grouped, plain, scanned } from '../show.ts';
import { follow } from './follow.ts';
import { type House, startHouse } from './house.ts';

export interface StartOptions {
  data?: string;
  port?: number;
  host?: string;
  origin?: string;
  api?: string;
  json?: boolean;
}

/** Runs until SIGINT, SIGTERM or SIGHUP; answers the exit status. */
export async function runStart(o: StartOptions): Promise<number> {
  const { env, stdout } = process;
  const colour = stdout.isTTY === true && !env['NO_COLOR'];
  const say = speaker({ json: o.json ?? false, env, out: (t) => stdout.write(t) });
  let house: House | undefined;
  const over = new AbortController();
  let wake: () => void = () => {};
  const asked = new Promise<void>((resolve) => (wake = resolve));
  for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(s, () => wake());
  // A reader that went away (npm start | head) must not take the house down without order.
  stdout.on('error', () => wake());

  try {
    const starting = startHouse({ ...o, say });
    const first = await Promise.race([starting, asked]);
    if (!first) {
      // Asked to stop before it was up: let it come to an end it knows, then end it.
      await starting.then((h) => h.stop()).catch(() => {});
      return 0;
    }
    house = first;
    say.line('');
    say.line(say.text('started', { origin: house.origin, data: house.data }));
    const { unconfined } = house;
    say.event({
      ...{ event: 'started', origin: house.origin, data: house.data, api: house.api },
      ...(unconfined ? { unconfined } : {}),
    });
    if (unconfined) {
      const text = translator(installedTexts, languageOf(env));
      say.line(`\n${text(`sandbox_${unconfined.reason}`)}`);
      if (unconfined.said) say.line(plain(unconfined.said, 300));
    }
    keepCode(house);
    await Promise.race([asked, house.poweredOff]);
    return 0;
  } catch (cause) {
    const e = toIngleError(cause);
    if (e.code === 'internal') process.stderr.write(`${(cause as Error).stack}\n`);
    process.stderr.write(o.json ? `${JSON.stringify(e.body())}\n` : `\n${e.message}\n`);
    return errorTable[e.code as ErrorCode].exit;
  } finally {
    over.abort();
    if (house) {
      say.line(`\n${say.text('stopping')}`);
      await house.stop();
      say.line(say.text('stopped'));
      say.event({ event: 'stopped' });
    }
  }

  /** Shows a code, and a new one each time it is used, void or expired. */
  function keepCode(h: House): void {
    let timer: NodeJS.Timeout | undefined;
    let told = '';
    const show = async (why?: 'codeRenewed' | 'codeExpired') => {
      clearTimeout(timer);
      try {
        const code = await h.issueCode();
        const { insecure } = await (await h.uplink()).Status({});
        const expires = Number(code.expires_at);
        const left = Math.max(5, expires - Date.now() / 1000);
        timer = setTimeout(() => show('codeExpired'), left * 1000).unref();
        told = '';
        say.event({ event: 'code', ...code, expires_at: expires, ...(insecure ? { insecure } : {}) });
        say.line('');
        if (why) say.line(say.text(why));
        say.line(`${say.text('pairOpen')}\n\n  ${code.link}\n`);
        say.line(scanned(code.link, colour, say));
        const typed = grouped(code.device_code, code.secret);
        say.line(`\n${say.text('pairTyped', { page: code.verify_uri, code: typed })}`);
        if (insecure) say.line(`\n${insecureLines(say, code)}`);
        say.line(say.text('pairValid', { minutes: Math.round(left / 60) }));
      } catch (e) {
        const { message } = toIngleError(e);
        if (message !== told) say.line(say.text('codeWaits', { message }));
        told = message;
        timer = setTimeout(() => show(why), 5000).unref();
      }
    };
    let shown = false;
    const listen = async (bus: Bus): Promise<void> => {
      await bus.onSignal(uplink1, 'Paired', ({ label, browser }) => {
        say.event({ event: 'paired', browser, label });
        say.line(`\n${say.text('paired', { label: plain(label) || browser.slice(0, 8) })}`);
        show('codeRenewed');
      });
      await bus.onSignal(uplink1, 'PairingFailed', ({ reason, left }) => {
        say.event({ event: 'pairing_failed', reason, left });
        say.line(`\n${say.text(left === 0 ? 'pairBurned' : 'pairFailed', { reason: plain(reason), left })}`);
        if (left === 0) show('codeRenewed');
      });
      // Whoever pairs by the first code is to be heard.
      if (!shown) show();
      shown = true;
    };
    follow(h.connection, listen, over.signal);
  }
}
