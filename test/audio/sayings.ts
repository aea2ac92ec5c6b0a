// What is said in a noisy room: 40 phrases of a household and 20 sentences that nobody's rules know, by three voices.

import { SPEECH_RATE } from '../../firmware/audio/resample.ts';
import { convolve } from '../../firmware/audio/spectrum.ts';
import { readUpload } from '../../firmware/audio/upload.ts';
import { must } from '../../firmware/system/exec.ts';
import { impulseResponse, type Noise, noise, random } from './room.ts';

/** Of the rules that every hub has (firmware/scenario/rules.ts). */
export const phrases: readonly string[] = [
  'set a timer for ten minutes',
  'please set a timer for half an hour',
  'start the timer for twenty five minutes',
  'set a five minute timer',
  'please start a timer for two hours',
  'set timer for an hour and a half',
  'wake me up in twenty minutes',
  'wake me in three hours',
  'start a timer of forty five seconds',
  'set the timer for fifteen minutes',
  "what's the weather",
  'what is the weather like',
  'how is the weather today',
  "what's the weather like now",
  'how is the weather',
  "what's the forecast",
  'what is the forecast',
  'will it rain',
  'will it rain today',
  'good night',
  'we are going to bed',
  'I am going to bed',
  'good morning',
  'what is new',
  "what's new today",
  'we are leaving home',
  'I am leaving now',
  'we are leaving home now',
  'goodbye home',
  'remind me of my medicine',
  'my medicine',
  'play the radio',
  'turn on the radio',
  'start radio',
  'play jazz',
  'turn on the news',
  'play classical music',
  'please be quiet',
  'quiet hours',
  'open the shopping list',
];

/** Said in a home, and not to the hub. */
export const besides: readonly string[] = [
  'did you see my keys anywhere',
  'the train was late again this morning',
  'I think we should paint the fence green',
  'grandma called and she sends her love',
  'the neighbours have bought a new car',
  'this soup needs a little more salt',
  'he scored twice before the break',
  'who left the milk on the table',
  'my sister is moving to another city',
  'there is a parcel for you downstairs',
  'we ran out of toothpaste yesterday',
  'I cannot find the other shoe',
  'the doctor said it is nothing serious',
  'their dog was barking all evening',
  'let me know when you are ready to leave',
  'she finished the whole book in two days',
  'nobody told me about the meeting',
  'the bakery closes early on saturdays',
  'have you ever been to the mountains',
  'it was the funniest film of the year',
];

export const voices = ['en-us', 'en-us+f3', 'en-gb'] as const;
export type Voice = (typeof voices)[number];
export const ratios = [5, 10, 20] as const;

/** What espeak-ng says, 16 kHz. */
export async function said(text: string, voice: string, pace = 130): Promise<Float64Array> {
  const file = Buffer.from(
    await must('espeak-ng', ['-v', voice, '-s', String(pace), '--stdin', '--stdout'], { input: text }),
  );
  // The sizes in the head of a file that went through a pipe are not its own.
  const data = file.indexOf('data');
  file.writeUInt32LE(file.length - data - 8, data + 4);
  file.writeUInt32LE(file.length - 8, 4);
  return Float64Array.from(await readUpload(new Uint8Array(file)), (v) => v / 32_768);
}

/** A living room of 5 by 4 m in which somebody stands a metre from the microphone. */
const livingRoom = impulseResponse(
  { size: [5, 4, 2.6], speaker: [2.2, 1.8, 1.6], microphone: [3.0, 2.3, 1.1], rt60: 0.3 },
  SPEECH_RATE,
  random(11),
);
const kinds: Noise[] = ['pink', 'babble'];

/** Speech in that room, `db` above its noise, which begins half a second before and ends half a second after it. */
export function inRoom(speech: Float64Array, db: number, seed: number): Int16Array {
  const heard = convolve(speech, livingRoom);
  const pad = SPEECH_RATE / 2;
  const r = random(seed);
  const around = noise(kinds[seed % kinds.length]!, SPEECH_RATE, heard.length + 2 * pad, r);
  const power = (x: Float64Array) => x.reduce((a, v) => a + v * v, 0) / x.length;
  // The room rings on; the ratio is that of the words.
  const words = heard.subarray(0, speech.length);
  const gain = Math.sqrt(power(words) / (power(around) * 10 ** (db / 10)));
  const mix = around.map((v, i) => v * gain + (heard[i - pad] ?? 0));
  const top = mix.reduce((a, v) => Math.max(a, Math.abs(v)), 0);
  return Int16Array.from(mix, (v) => Math.round((v / top) * 20_000));
}
