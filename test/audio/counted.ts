// How a hub understands what is said in a noisy room: its own rules, grammars and recogniser over recordings.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grammarHash } from '../../firmware/audio/grammar.ts';
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import { speechGrammar } from '../../firmware/intent/speech.ts';
import { houseRules } from '../../firmware/scenario/rules.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { openGrammars } from '../../services/audio/grammars.ts';
import { openModels } from '../../services/audio/model.ts';
import { weighed } from '../../services/audio/recognition.ts';

const now = '2026-11-25T20:04';
const rules = compileIntents(houseRules);
/** The intent with its slots; nothing for what means nothing. */
export function meaning(text: string): string | undefined {
  const found = recognize(rules, text, { now });
  return found && JSON.stringify([found.intent, found.slots]);
}

export interface Count {
  recognised: number;
  rejected: number;
  /** Taken for something else than it was. */
  wrong: number;
}
export const noCount = (): Count => ({ recognised: 0, rejected: 0, wrong: 0 });

/** What became of one saying. `meant` is undefined for what no rule knows. */
export function count(into: Count, text: string, meant: string | undefined): void {
  const means = meaning(text);
  if (means === undefined) into.rejected++;
  else if (means === meant) into.recognised++;
  else into.wrong++;
}

/** A hub's recogniser with the grammar of the house's rules. */
export async function openEar() {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-ear-'));
  const models = openModels(readConfig({}).speech.models);
  const grammars = openGrammars(join(folder, 'grammars'), models);
  const { grammar, words } = speechGrammar(rules);
  const { unknown } = await grammars.keep({ lang: 'en', grammar, words });
  if (unknown.length > 0) throw new Error(`words without a sound: ${unknown.join(', ')}`);
  const kept = grammars.find('en', grammarHash('en', grammar));
  return {
    hear: (samples: Int16Array) =>
      weighed(samples, kept, { model: models('en'), runtime: folder, decodeMs: 120_000 }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
