// `ingle health`: whether this version is well; with --commit it is then kept (ingle-health.service, on a trial boot).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckName, diagnose, type Facts } from '../../../firmware/health/findings.ts';
import { unwell } from '../../../firmware/health/health.ts';
import { keepFailures } from '../../../firmware/health/last.ts';
import { errorTable, IngleError } from '../../../firmware/protocol/errors.ts';
import { imageVersion } from '../../../firmware/system/config.ts';
import { must } from '../../../firmware/system/exec.ts';
import { healthTexts } from '../../../firmware/text/health.ts';
import { type Language, pickLanguage, translator } from '../../../firmware/text/i18n.ts';
import type { Say } from '../say.ts';
import { look, type Place } from './facts.ts';

/** Between two looks, milliseconds. */
const pause = 3000;

/**
 * Looks until this version is well or `seconds` are over; answers the exit status.
 * @param place asked anew at each look, as the bus may come late
 */
export async function health(
  place: () => Promise<Place>,
  say: Say,
  language: Language,
  o: { seconds: number; commit: boolean },
): Promise<number> {
  const t = translator(healthTexts, language);
  const end = performance.now() + o.seconds * 1000;
  let noted: string | undefined;
  for (;;) {
    const p = await place();
    const facts = await look(p, false);
    const wrong = unwell(facts, p.isHub);
    p.bus?.close();
    // At each change: a hub that restarts before the end of this has left its reasons too.
    if (o.commit && wrong.join() !== noted) {
      await note(p, facts, wrong);
      noted = wrong.join();
    }
    const names = wrong.map((name) => t(`check_${name}`)).join(', ');
    if (wrong.length === 0) {
      if (o.commit) await commit(p.config.runtime);
      say.event({ healthy: true, committed: o.commit });
      say.line(t('health_good'));
      if (o.commit) say.line(t('health_committed'));
      return 0;
    }
    const left = Math.ceil((end - performance.now()) / 1000);
    if (left <= 0) {
      say.event({ healthy: false, wrong });
      say.line(t('health_bad', { names }));
      return errorTable.unavailable.exit;
    }
    say.line(t('health_wait', { names, s: left }));
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left * 1000)));
  }
}

/** Leaves what is wrong with this version for the one that may run after it, in the hub's words. */
async function note(p: Place, facts: Facts, wrong: readonly CheckName[]): Promise<void> {
  const t = translator(healthTexts, pickLanguage([p.config.language]));
  const failures = diagnose(facts)
    .filter((f) => wrong.includes(f.check))
    .map((f) => `${t(`check_${f.check}`)}: ${t(f.text, f.values)}`);
  await keepFailures(p.config.data, imageVersion(), failures);
}

/** The boot loader counts no more tries of this slot, and the initial RAM disk's watch stands down. */
async function commit(runtime: string): Promise<void> {
  await must('rauc', ['status', 'mark-good'], { timeoutMs: 120_000 });
  mkdirSync(runtime, { recursive: true });
  writeFileSync(join(runtime, 'committed'), '');
}

/** `--wait` in seconds. @throws IngleError `invalid_request` */
export function secondsOf(given: string | undefined, otherwise: number): number {
  const seconds = given === undefined ? otherwise : Number(given);
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > 3600)
    throw new IngleError('invalid_request', '--wait takes 0 to 3600 seconds.');
  return seconds;
}
