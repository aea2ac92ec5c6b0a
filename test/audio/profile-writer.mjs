// Saves profiles one after another until it is killed; says each number once it is durable.
import { openProfiles } from '../../firmware/audio/profile.ts';

const [file, from] = process.argv.slice(2);
const profiles = await openProfiles(file);
for (let n = Number(from); ; n++) {
  await profiles.save({
    sink_id: `sink${n}`,
    source_id: `source${n}`,
    format_out: '48000/2',
    format_in: '16000/1',
    latency_ms: n + 0.25,
    score: 190,
    verified_at: new Date(1_700_000_000_000 + n).toISOString(),
    proof: { corr: 0.75, snr_db: 12.5 },
    verified: true,
  });
  process.stdout.write(`${n}\n`);
}
