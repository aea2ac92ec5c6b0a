// `ingle doctor`: looks at everything and says what is wrong and what to do.
import { diagnose, type Finding, type Level, worst } from '../../../firmware/health/findings.ts';
import { errorTable } from '../../../firmware/protocol/errors.ts';
import { healthTexts } from '../../../firmware/text/health.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import { translator } from '../../../firmware/text/i18n.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { look, type Place } from './facts.ts';

const marks: Record<Level, string> = { ok: ' ok', skip: '  -', warn: '  !', bad: '!!!' };

/** One line a finding: mark, check, what was seen. */
function lineOf(f: Finding, language: Language): string {
  const t = translator(healthTexts, language);
  const values = Object.fromEntries(
    Object.entries(f.values).map(([k, v]) => [k, typeof v === 'string' ? plain(v, 300) : v]),
  );
  return `${marks[f.level]}  ${t(`check_${f.check}`).padEnd(18)} ${t(f.text, values)}`;
}

/** Answers the exit status: 0, or that of `unavailable` when something is wrong. */
export async function doctor(place: Place, say: Say, language: Language): Promise<number> {
  const findings = diagnose(await look(place));
  const t = translator(healthTexts, language);
  const count = (level: Level) => findings.filter((f) => f.level === level).length;
  for (const f of findings) {
    say.event({ check: f.check, level: f.level, reason: f.text, ...f.values, message: t(f.text, f.values) });
    say.line(lineOf(f, language));
  }
  const level = worst(findings);
  say.event({ verdict: level, wrong: count('bad'), look: count('warn') });
  say.line('');
  if (level === 'bad') say.line(t('verdict_bad', { count: count('bad') }));
  else say.line(level === 'warn' ? t('verdict_warn', { count: count('warn') }) : t('verdict_ok'));
  return level === 'bad' ? errorTable.unavailable.exit : 0;
}
