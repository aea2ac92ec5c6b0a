// io.ingle.Setup1 over the ladder: contract on one side, ports on the other.
import type { Bus, Served } from '../system/bus.ts';
import { toDict } from '../system/contract.ts';
import { stageOf } from './access.ts';
import { setup1 } from './contract.ts';
import type { LadderState } from './ladder.ts';
import type { Ports } from './ports.ts';
import { createSetup, type Setup, type SetupOptions } from './setup.ts';

export interface ServeOptions
  extends Pick<SetupOptions, 'file' | 'log' | 'device' | 'times' | 'uptime' | 'start'> {
  ports: Ports;
  version: string;
  model: string;
  onState?: (state: LadderState) => void;
  onCall?: () => void;
}

/** Serves the ladder; the caller then begins it. */
export async function serveSetup(bus: Bus, o: ServeOptions): Promise<Setup> {
  const { ports } = o;
  let served: Served<typeof setup1> | undefined;
  const setup = await createSetup({
    ...o,
    onState: (state, old, event) => {
      o.onState?.(state);
      served?.emit('StateChanged', { state, old, event });
    },
    onProgress: (step, state, text, detail) =>
      served?.emit('Progress', { step, state, text, detail: toDict(detail) }),
    onSecrets: (window) => served?.emit('SecretsChanged', { window }),
  });
  // A caller may be there as soon as the name is taken.
  served = await bus.serve(
    setup1,
    {
      async Status() {
        // Whoever asks may be the one the service is started for.
        await setup.begun;
        const { state: _, mode, attempts, verified_profile, ...rest } = setup.status();
        const detail = {
          online: await ports.online().catch(() => false),
          ssid: rest.ssid,
          error: rest.error,
          reason: rest.reason,
          channels: rest.channels,
          pin_wait_s: rest.pin_wait_s,
          sink_id: verified_profile?.sink_id ?? '',
          source_id: verified_profile?.source_id ?? '',
          name: o.device.name,
          model: o.model,
          version: o.version,
        };
        return { state: setup.state, mode, attempts, detail };
      },
      async Stage() {
        await setup.begun;
        return { stage: stageOf(setup.status()) };
      },
      Restart: async ({ channel }) => {
        await setup.restart(channel);
        return {};
      },
      Finish: async ({ channel }) => {
        await setup.finish(channel);
        return {};
      },
      AudioDevices: ({ channel }) => {
        setup.touch(channel);
        return ports.audio.devices();
      },
      AudioTest: ({ channel, sink_id, source_id }) => {
        setup.touch(channel);
        return ports.audio.test(sink_id, source_id);
      },
      AudioSelect: async ({ channel, sink_id, source_id }) => {
        await setup.select(channel, sink_id, source_id);
        return {};
      },
      WifiScan: ({ channel, fresh }) => {
        setup.touch(channel);
        return ports.wifi.scan(fresh);
      },
      WifiConnect: ({ channel, ssid, psk, hidden }) => setup.connect(channel, { ssid, psk, hidden }),
      Authorise: ({ channel, pin }) => setup.authorise(channel, pin),
      TakeTry: async ({ channel }) => ({ wait_s: await setup.takeTry(channel) }),
      TryEnded: ({ channel, right }) => setup.tryEnded(channel, right),
      Secrets: () => ({ ...setup.secrets() }),
      Speak: async () => {
        await setup.speak();
        return {};
      },
      PairingLink: () => setup.pairing(),
      RecoveryLink: () => setup.recovery(),
      Offered: () => setup.offered(),
      Adopt: async (confirmed) => {
        await setup.adopt(confirmed);
        return {};
      },
      Approve: async ({ channel }) => {
        await setup.approve(channel);
        return {};
      },
      FactoryReset: async ({ confirm }) => {
        await setup.reset(confirm);
        return {};
      },
    },
    { onCall: o.onCall },
  );
  return setup;
}
