// `ingle selftest`: exercises radios, sound, storage and clock on the factory line and prints a result code.
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { audio1 } from '../../../firmware/audio/contract.ts';
import { clockRuns } from '../../../firmware/health/clock.ts';
import { type Fault, faults, type Part, type Result, resultCode } from '../../../firmware/health/selftest.ts';
import { errorTable } from '../../../firmware/protocol/errors.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import { type Config, version } from '../../../firmware/system/config.ts';
import { healthTexts } from '../../../firmware/text/health.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { wifi1 } from '../../../firmware/wifi/contract.ts';
import type { Say } from '../say.ts';
import { adapters, type Place } from './facts.ts';

type Outcome = Pick<Result, 'fault' | 'values'>;
const good: Outcome = { fault: '', values: {} };
const none: Outcome = { fault: null, values: {} };
const bad = (fault: Fault, values: Result['values'] = {}): Outcome => ({ fault, values });

async function wifi(bus: Bus | undefined): Promise<Outcome> {
  if (!bus) return bad('W1', { why: 'D-Bus' });
  const client = bus.client(wifi1);
  try {
    if ((await client.Status({}, 30_000)).radios === 0) return bad('W2');
    // A radio that hears nothing has no antenna.
    return (await client.Scan({ fresh: true }, 60_000)).networks.length > 0 ? good : bad('W3');
  } catch (e) {
    return bad('W1', { why: (e as Error).message });
  }
}

/** The test sound through the air, or with a microphone missing by design, played only. */
async function sound(bus: Bus | undefined, has: Config['hardware']): Promise<Outcome> {
  if (!bus) return bad('A1', { why: 'D-Bus' });
  const client = bus.client(audio1);
  try {
    const { sinks, sources } = await client.Enumerate({}, 30_000);
    const best = (list: typeof sinks) => list.find((d) => d.usable)?.id;
    const [sink, source] = [best(sinks), best(sources)];
    if (has.speaker && !sink) return bad('A2');
    if (has.microphone && !source) return bad('A3');
    if (!sink) return good;
    const { verdict } = await client.Test({ sink_id: sink, source_id: source ?? '' }, 60_000);
    return verdict === 'ok' || (verdict === 'played' && !has.microphone) ? good : bad('A4', { verdict });
  } catch (e) {
    return bad('A1', { why: (e as Error).message });
  }
}

/** Random bytes to the data partition and back, past the page cache where the file system lets us. */
function storage(data: string): Outcome {
  const file = join(data, `.selftest-${process.pid}`);
  const written = randomBytes(8 * 2 ** 20);
  try {
    const fd = openSync(file, 'wx', 0o600);
    try {
      writeSync(fd, written);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    return readFileSync(file).equals(written) ? good : bad('S1', { why: 'differs' });
  } catch (e) {
    return bad('S1', { why: (e as NodeJS.ErrnoException).code ?? (e as Error).message });
  } finally {
    rmSync(file, { force: true });
  }
}

/** It runs as fast as the monotonic one, and knows the present within reason. */
async function clock(): Promise<Outcome> {
  const year = new Date().getUTCFullYear();
  return year >= 2025 && year <= 2100 && (await clockRuns()) ? good : bad('C1', { year });
}

function label(c: Config): Outcome {
  if (c.label_policy === 'none') return none;
  if (c.serial && c.label) return good;
  return c.label_policy === 'required' ? bad('L1') : none;
}

/** Answers the exit status: 0, or that of `unavailable` when a part has failed. */
export async function selftest(place: Place, say: Say, language: Language): Promise<number> {
  const { config, bus } = place;
  const { hardware } = config;
  const t = translator(healthTexts, language);
  const tests: [Part, () => Promise<Outcome> | Outcome][] = [
    ['storage', () => storage(place.data)],
    ['clock', clock],
    ['bluetooth', () => (hardware.bluetooth ? bluetooth() : none)],
    ['wifi', () => (hardware.wifi ? wifi(bus) : none)],
    ['audio', () => (hardware.speaker || hardware.microphone ? sound(bus, hardware) : none)],
    ['label', () => label(config)],
  ];
  const results: Result[] = [];
  for (const [part, test] of tests) {
    const r = { part, ...(await test()) };
    results.push(r);
    const why = r.fault ? t(faults[r.fault], r.values) : '';
    say.event({ part, result: r.fault === null ? 'absent' : r.fault || 'ok', ...(why ? { why } : {}) });
    const said =
      r.fault === null ? t('test_absent') : r.fault ? t('test_failed', { code: r.fault, why }) : t('test_ok');
    say.line(`${t(`test_${part}`).padEnd(24)} ${said}`);
  }
  const code = resultCode(results, { model: config.model, serial: config.serial, version });
  say.event({ code });
  say.line(`\n${t('test_code', { code })}`);
  return code.startsWith('PASS') ? 0 : errorTable.unavailable.exit;
}

function bluetooth(): Outcome {
  const seen = adapters();
  return seen && 'value' in seen && seen.value.length > 0 ? good : bad('B1');
}
