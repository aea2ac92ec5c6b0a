// The audio test of a technician, and of a machine with sound cards of another kind (a VM's snd-aloop): asks the
// service on the bus to test each pair, or one, and prints what it says.
//   node services/audio/selftest.js [--json] [<sink> <source>]
// Exit status 0 when a pair is ok, 69 when none is.
import { audio1 } from '../../firmware/audio/contract.ts';
import { toIngleError } from '../../firmware/protocol/errors.ts';
import { connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { audioTexts } from '../../firmware/text/audio.ts';
import { pickLanguage, translator } from '../../firmware/text/i18n.ts';

const args = process.argv.slice(2).filter((a) => a !== '--json');
const json = process.argv.includes('--json');
const text = translator(audioTexts, pickLanguage([readConfig().language]));
const bus = await connect();
const audio = bus.client(audio1);
let ok = false;
try {
  const { sinks, sources } = await audio.Enumerate({});
  const pairs =
    args.length === 2
      ? [[args[0]!, args[1]!] as const]
      : sinks.flatMap((s) => sources.filter((m) => s.usable && m.usable).map((m) => [s.id, m.id] as const));
  if (pairs.length === 0) console.log(json ? '[]' : text('no_devices'));
  for (const [sink_id, source_id] of pairs) {
    const m = await audio.Test({ sink_id, source_id }, 60_000);
    ok ||= m.verdict === 'ok';
    if (json) console.log(JSON.stringify({ sink_id, source_id, ...m }));
    else {
      const figures = `${m.latency_ms.toFixed(1)} ms, ${m.snr_db.toFixed(1)} dB, corr ${m.corr.toFixed(2)}, ${m.path}`;
      const key = `verdict_${m.verdict}`;
      const says = Object.hasOwn(audioTexts.en, key)
        ? text(key as keyof (typeof audioTexts)['en'])
        : m.verdict;
      console.log(`${sink_id} -> ${source_id}: ${m.verdict} (${figures}). ${says}`);
    }
  }
} catch (e) {
  console.error(toIngleError(e).message);
}
bus.close();
process.exit(ok ? 0 : 69);
