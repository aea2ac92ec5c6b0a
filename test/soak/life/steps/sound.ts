// A sound card is plugged in (snd-aloop), and the lab is the room between its two ends.
import * as assert from 'uvu/assert';
import { call, journal, reach, strays } from '../../../vm/hub.ts';
import type { Vm } from '../../../vm/lab.ts';
import { type Check, figure } from '../hub.ts';

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
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    last = await devices(vm).catch((e) => e as Error);
    if (Array.isArray(last) && holds(last as [Row[], Row[]])) return last as [Row[], Row[]];
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`still waiting: ${what}\n${JSON.stringify(last)}\n${await journal(vm)}`);
}

/** Whatever comes out of the card goes back into it: through a room, or as it is. */
async function between(vm: Vm, what: 'room' | 'wire'): Promise<void> {
  await vm.run('systemctl stop lab-room');
  await vm.must(
    `systemd-run -q --collect --unit=lab-room -p Nice=-10 bash -c 'arecord -q -D hw:Loopback,1,0 -t raw -f S16_LE -r 48000 -c 2 -B 500000 -F 50000 | node /run/lab/room.mjs ${what} | aplay -q -D hw:Loopback,1,0 -t raw -f S16_LE -r 48000 -c 2 -B 600000 -F 50000'`,
  );
  await vm.until(
    'grep -l RUNNING /proc/asound/Loopback/pcm1p/sub0/status /proc/asound/Loopback/pcm1c/sub0/status | wc -l',
    {
      test: (s) => s.trim() === '2',
    },
  );
}

/** A loaded machine stutters, and the service says so; then a person tries again. */
async function test(vm: Vm, sink: string, source: string): Promise<unknown[]> {
  for (let tries = 8; ; tries--) {
    const m = await call(vm, 'Audio1', 'Test', 'ss', sink, source);
    console.log(`${source}: ${JSON.stringify(m)}`);
    if (m[0] !== 'glitching' || tries === 1) return m;
  }
}

let sink = '';

export function sound(check: Check): void {
  check('a sound card plugged in is found, and its own way back is told as a loopback', async ({ vm }) => {
    // The lab's end of the card is opened first: both ends must agree on a format, and that one is fixed.
    await vm.must('systemctl stop ingle-sound-pulse ingle-sound-session ingle-sound; modprobe snd-aloop');
    await between(vm, 'room');
    await vm.must('systemctl start ingle-sound ingle-sound-session ingle-sound-pulse', {
      timeoutMs: 120_000,
    });
    const [sinks, sources] = await appears(vm, 'the card', ([a, b]) => a.length > 0 && b.length > 0);
    sink = sinks[0]![0];
    assert.equal(
      sinks.map((s) => [s[2], s[7]]),
      [['builtin', true]],
    );
    // By its properties alone: the card calls itself so.
    assert.ok(
      sources.length > 0 && sources.every((s) => s[2] === 'loopback' && !s[7]),
      JSON.stringify(sources),
    );
    await asSound(vm, `pactl set-sink-volume ${sink} 100%`);
    // An emulated machine is late for the short periods that a hub's own processor keeps.
    await asSound(vm, 'pw-metadata -n settings 0 clock.force-quantum 8192');
    const own = sources.find((s) => s[0].startsWith('alsa_input'))![0];
    // The same samples under a microphone's name, as a card of another maker would have it.
    await asSound(
      vm,
      `pactl load-module module-remap-source master=${own} source_name=microphone source_properties=device.description=Microphone`,
    );
    await appears(vm, 'a microphone', ([, b]) => b.some((x) => x[0] === 'microphone' && x[7]));
  });

  check('through a room the probe is heard, with its delay', async ({ vm }) => {
    const m = await test(vm, sink, 'microphone');
    assert.is(m[0], 'ok', `${m}\n${await journal(vm)}`);
    figure('aloop_room_latency_ms', (m[2] as number).toFixed(1));
    figure('aloop_room_corr', (m[1] as number).toFixed(2));
  });

  check(
    'the same samples without a room are told as a digital loopback, whatever their delay',
    async ({ vm }) => {
      await between(vm, 'wire');
      assert.is((await test(vm, sink, 'microphone'))[0], 'digital_loopback', await journal(vm));
      await between(vm, 'room');
    },
  );

  check('the whole audio test: speech is heard, a person is asked, the profile is kept', async ({ vm }) => {
    let r: unknown[] = [];
    for (let tries = 5; tries > 0 && r[0] !== 'READY'; tries--) {
      r = await call(vm, 'Audio1', 'Probe', 'sb', 'en', false);
      console.log(`the audio test: ${JSON.stringify(r)}`);
      // A machine that stutters is no room; anything else must not happen.
      if (r[0] !== 'READY')
        assert.ok(['glitching', 'noisy'].includes(r[1] as string), `${r}\n${await journal(vm)}`);
    }
    assert.equal([r[0], r[2], r[3]], ['READY', sink, 'microphone'], await journal(vm));
    const [profile, fresh] = await call(vm, 'Audio1', 'LoadProfile');
    assert.equal([(profile as unknown[])[0], (profile as unknown[])[1], fresh], [sink, 'microphone', true]);
    assert.is(await vm.must('find /run/ingle/audio -type f'), '');
  });

  check('a hub that speaks, hears and has a network is ready by its sound', async ({ vm }) => {
    let state = '';
    for (let tries = 5; tries > 0 && state !== 'READY'; tries--) {
      await call(vm, 'Setup1', 'Restart', 's', 'serial');
      state = (
        await reach(vm, 'an end of the audio test', (s) => !['BOOT', 'AUDIO', 'RETEST'].includes(s.state))
      ).state;
    }
    assert.is(state, 'READY', await journal(vm));
    assert.match(await journal(vm), /AUDIO -> READY/);
    await vm.until(`test -z "$(${strays})"`, { timeoutMs: 60_000 });
  });
}
