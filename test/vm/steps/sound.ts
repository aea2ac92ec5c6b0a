// A sound card is plugged in (snd-aloop), and the lab is the room between its two ends.
import * as assert from 'uvu/assert';
import { call, journal, ladderLog, reach, strays } from '../../lab/vm/hub.ts';
import { PATIENCE, type Vm } from '../../lab/vm/lab.ts';
import { type Check, figure } from '../../lab/vm/suite.ts';

/** As the sound server's own user, who alone may speak with it. */
const asSound = (vm: Vm, order: string) =>
  vm.must(
    `setpriv --reuid=ingle-audio --regid=ingle-audio --clear-groups env HOME=/tmp LC_ALL=C XDG_RUNTIME_DIR=/run/ingle-sound PULSE_SERVER=unix:/run/ingle-sound/pulse/native ${order}`,
  );

type Row = [
  id: string,
  name: string,
  type: string,
  muted: boolean,
  volume: number,
  connected: boolean,
  score: number,
  usable: boolean,
];
const devices = async (vm: Vm) => (await call(vm, 'Audio1', 'Enumerate')) as [Row[], Row[]];

async function appears(vm: Vm, what: string, holds: (d: [Row[], Row[]]) => boolean): Promise<[Row[], Row[]]> {
  let last: unknown;
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    last = await devices(vm).catch((e) => e as Error);
    if (Array.isArray(last) && holds(last as [Row[], Row[]])) return last as [Row[], Row[]];
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`still waiting: ${what}\n${JSON.stringify(last)}\n${await journal(vm)}`);
}

/**
 * The card as one of another maker: its way back is called a microphone, it takes what real cards do (channels side by
 * side, as both ends of a loop must agree), and one crystal drives both its ends. Of the loop's own time, which jumps
 * with the kernel's ticks of 4 ms, the server would make a drift that comes and goes, as no crystal has.
 */
const card = `
monitor.alsa.rules = [
  { matches = [ { node.name = "~alsa_.*snd_aloop.*" } ]
    actions = { update-props = { audio.format = "S32LE" audio.rate = 48000 clock.name = "card" } } }
  { matches = [ { node.name = "~alsa_input.*snd_aloop.*" } ]
    actions = { update-props = { node.name = "microphone" node.description = "Microphone" alsa.card_name = "Other" } } }
]
`;
const config = '/var/lib/ingle/sound/.config/wireplumber/wireplumber.conf.d';

/**
 * Whatever comes out of the card goes back into it: through a room, or as it is. Short buffers: what a machine that was
 * late has in them stays on the way, and the probe looks no further back than 1.5 s.
 */
async function between(vm: Vm, what: 'room' | 'wire'): Promise<void> {
  await vm.run('systemctl stop lab-room');
  const through = { room: '| node /run/lab/room.mjs', wire: '' };
  const end = '-q -D hw:Loopback,1,0 -t raw -f S32_LE -r 48000 -c 2 -F 50000';
  await vm.must(
    `systemd-run -q --collect --unit=lab-room bash -c 'arecord ${end} -B 200000 ${through[what]} | aplay ${end} -B 400000'`,
  );
  await vm.until(
    'grep -l RUNNING /proc/asound/Loopback/pcm1p/sub0/status /proc/asound/Loopback/pcm1c/sub0/status | wc -l',
    { test: (s) => s.trim() === '2' },
  );
}

/** A computer that gives its processor away stutters, and the service says so; then a person tries again. */
async function test(vm: Vm, sink: string, source: string): Promise<unknown[]> {
  for (let tries = 5; ; tries--) {
    const m = await call(vm, 'Audio1', 'Test', 'ss', sink, source);
    console.log(`${source}: ${JSON.stringify(m)}`);
    if (!['glitching', 'noisy'].includes(m[0] as string) || tries === 1) return m;
  }
}

const sink = 'alsa_output.platform-snd_aloop.0.analog-stereo';

export function sound(check: Check): void {
  check('a sound card plugged in is found, and its own way back is told as a loopback', async ({ vm }) => {
    await vm.must('systemctl start ingle-sound-pulse');
    await vm.must('modprobe snd-aloop');
    const [sinks, sources] = await appears(vm, 'the card', ([a, b]) => a.length > 0 && b.length > 0);
    assert.equal(
      sinks.map((s) => [s[0], s[2], s[7]]),
      [[sink, 'builtin', true]],
    );
    // By its properties alone: the card calls itself so.
    assert.ok(
      sources.length > 0 && sources.every((s) => s[2] === 'loopback' && !s[7]),
      JSON.stringify(sources),
    );
    // What plays has its turn before all else, or it stutters.
    const threads = await vm.must('ps -eLo user,cls,comm | grep data-loop');
    assert.ok(threads.split('\n').length >= 3, threads);
    for (const thread of threads.split('\n')) assert.match(thread, / FF /);
  });

  check('a microphone plugged in is found', async ({ vm }) => {
    await vm.put('/run/card.conf', card);
    await vm.must(
      `mkdir -p ${config} && cp /run/card.conf ${config}/ && chown -R ingle-audio: /var/lib/ingle/sound/.config && systemctl restart ingle-sound-session`,
    );
    await appears(
      vm,
      'a microphone',
      ([a, b]) => a.length > 0 && b.some((x) => x[0] === 'microphone' && x[7]),
    );
    // The lab's end of the loop is open before the hub's, whose format it decides.
    await between(vm, 'room');
    await asSound(vm, `pactl set-sink-volume ${sink} 100%`);
  });

  check(
    'through a room the probe is heard, with its delay; speech too, and the profile is kept',
    async ({ vm }) => {
      let r: unknown[] = [];
      for (let tries = 5; tries > 0 && r[0] !== 'READY'; tries--) {
        r = await call(vm, 'Audio1', 'Probe', 'sb', 'en', false);
        console.log(`the audio test: ${JSON.stringify(r)}`);
        // As above; anything else must not happen.
        if (r[0] !== 'READY')
          assert.ok(['glitching', 'noisy'].includes(r[1] as string), `${r}\n${await journal(vm)}`);
      }
      console.log(await vm.must('journalctl -b -u ingle-audio --no-pager -o cat | grep measured'));
      assert.equal([r[0], r[2], r[3]], ['READY', sink, 'microphone'], await journal(vm));
      const [, , verdict, corr, latency] = await call(vm, 'Audio1', 'Metrics', 'ss', sink, 'microphone');
      assert.is(verdict, 'ok');
      // What lies in the buffers of both ends of the loop, at least.
      assert.ok((latency as number) > 100 && (latency as number) < 1500, String(latency));
      figure('aloop_room_latency_ms', (latency as number).toFixed(1));
      figure('aloop_room_corr', (corr as number).toFixed(2));
      const [profile, fresh] = await call(vm, 'Audio1', 'LoadProfile');
      assert.equal([(profile as unknown[])[0], (profile as unknown[])[1], fresh], [sink, 'microphone', true]);
      assert.is(await vm.must('find /run/ingle/audio -type f'), '');
    },
  );

  check(
    'the same samples without a room are told as a digital loopback, whatever their delay',
    async ({ vm }) => {
      await between(vm, 'wire');
      assert.is((await test(vm, sink, 'microphone'))[0], 'digital_loopback', await journal(vm));
      await between(vm, 'room');
    },
  );

  check(
    'a hub that speaks, hears and has a network, and no owner, keeps its ways in open until it is finished by hand',
    async ({ vm }) => {
      // No radio is plugged in, so the console is the way in.
      const heard = 'AUDIO -> CHANNELS event=audio_ok_unowned';
      for (let tries = 5; tries > 0 && !(await ladderLog(vm)).includes(heard); tries--) {
        await call(vm, 'Setup1', 'Restart', 's', 'serial');
        await reach(vm, 'an end of the audio test', (s) => s.state === 'CONSOLE');
      }
      assert.ok((await ladderLog(vm)).includes(heard), await journal(vm));
      let state = '';
      for (let tries = 5; tries > 0 && state !== 'READY'; tries--) {
        if (tries < 5) await call(vm, 'Setup1', 'Restart', 's', 'serial');
        await reach(vm, 'the console', (s) => s.state === 'CONSOLE');
        await call(vm, 'Setup1', 'Finish', 's', 'serial');
        ({ state } = await reach(vm, 'an end of the retest', (s) => s.state.startsWith('READY')));
      }
      assert.is(state, 'READY', await journal(vm));
      await vm.until(`test -z "$(${strays})"`);
    },
  );
}
