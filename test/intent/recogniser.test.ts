// timeout: 300 s
// The grammar of a rule set in the recogniser the hub has: espeak-ng says it, pocketsphinx hears it, the rules
// understand it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { grammarBeams } from '../../firmware/audio/grammar.ts';
import { readUpload } from '../../firmware/audio/upload.ts';
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import { speechGrammar } from '../../firmware/intent/speech.ts';
import { must } from '../../firmware/system/exec.ts';
import { household, now } from './household.ts';

const model = '/usr/share/pocketsphinx/model/en-us';
const dictionary = join(model, 'cmudict-en-us.dict');
const needed = ['/usr/bin/espeak-ng', '/usr/bin/pocketsphinx_continuous', dictionary];
const missing = needed.filter((f) => !existsSync(f)).join(', ');
if (missing) console.log(`\nSKIP no speech here: ${missing}`);
const test = suite('the grammar of intents in the recogniser');
const it = missing ? test.skip : test;

/** What the recogniser hears of a text that is said. */
async function heard(text: string, folder: string, grammar: string): Promise<string> {
  const file = Buffer.from(await must('espeak-ng', ['-v', 'en-us', '-s', '110', '--stdout', text]));
  // The sizes in the head of a file that went through a pipe are not its own.
  const data = file.indexOf('data');
  file.writeUInt32LE(file.length - data - 8, data + 4);
  file.writeUInt32LE(file.length - 8, 4);
  const samples = await readUpload(new Uint8Array(file));
  const raw = join(folder, 'said.raw');
  const gram = join(folder, 'intents.gram');
  writeFileSync(raw, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  writeFileSync(gram, grammar);
  const where = ['-hmm', join(model, 'en-us'), '-dict', dictionary];
  const out = await must(
    'pocketsphinx_continuous',
    ['-infile', raw, '-jsgf', gram, '-logfn', '/dev/null', ...where, ...grammarBeams],
    { timeoutMs: 60_000 },
  );
  return out.toString().replace(/\s+/g, ' ').trim();
}

it('what is said with the grammar of a household is heard, and means what it says', async () => {
  const words = new Set([...readFileSync(dictionary, 'latin1').matchAll(/^(\S+) /gm)].map((m) => m[1]!));
  const c = compileIntents(household);
  const { grammar, unspoken } = speechGrammar(c, { knows: (w) => words.has(w) });
  assert.ok(
    unspoken.every((u) => u.why === 'free'),
    JSON.stringify(unspoken),
  );
  const folder = mkdtempSync(join(tmpdir(), 'ingle-intents-'));
  try {
    for (const [text, intent] of [
      ['turn on the lights in the kitchen', 'lights.on'],
      ['set a timer for twenty five minutes', 'timer.start'],
      ["what's the weather tomorrow", 'weather.day'],
      ['wake me up at six thirty a m tomorrow', 'alarm.set'],
      ['set the temperature in the bedroom to eighteen', 'heating.set'],
      ['play jazz radio', 'radio.play'],
    ] as const) {
      const began = performance.now();
      const said = await heard(text, folder, grammar);
      console.log(
        `\nFIGURE intents_heard "${text}" as "${said}", ${Math.round(performance.now() - began)} ms`,
      );
      assert.is(recognize(c, said, { now })?.intent, intent, said);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
