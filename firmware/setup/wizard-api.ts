// Answers of the setup pages' API over io.ingle.Setup1. No I/O of its own.
import { inputOf } from '../protocol/endpoint/input.ts';
import { bind, type Handlers, router } from '../protocol/endpoint/router.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Caller } from '../system/contract.ts';
import { type Action, askStage, may } from './access.ts';
import type { setup1 } from './contract.ts';
import { pageApi } from './page-api.ts';
import { PAIRING_MS } from './pairing.ts';

export interface WizardDeps {
  setup: Caller<typeof setup1>;
  /** The newest level of the source under test, 0..1; null when none is heard. */
  level(): number | null;
  /** The newest progress of each step. */
  progress(): Record<string, unknown>[];
  /** QR code of a text as an SVG path with its size in modules. */
  qr(text: string): { size: number; path: string };
}

type Asked = object;

/** What answers a request of the setup pages, for whoever is in the access point. */
export function wizardApi(d: WizardDeps) {
  const { find } = router(bind<typeof pageApi, Asked, never>(pageApi, answersOf(d)));
  /** @throws IngleError `not_found`, `method_not_allowed`; what it returns also `forbidden`, `invalid_request` */
  return (method: string, path: string) => {
    const { bound, params } = find(method, path);
    return async (query: URLSearchParams, body: Uint8Array | string): Promise<unknown> => {
      if (!may('softap', await askStage(d.setup), bound.endpoint.who as Action, ['psk']))
        throw new IngleError('forbidden', 'Not from the setup page. Use the console of the hub.');
      return bound.answer(inputOf(bound.endpoint)(params, query, body));
    };
  };
}

function answersOf(d: WizardDeps): Handlers<typeof pageApi, Asked, never> {
  const channel = 'softap';
  return {
    async status() {
      const s = await d.setup.Status({});
      return {
        state: s.state,
        mode: s.mode,
        attempts: s.attempts,
        ...s.detail,
        level: d.level(),
        progress: d.progress(),
      };
    },
    devices: () => d.setup.AudioDevices({ channel }),
    test: ({ body: { sink, source } }) =>
      d.setup.AudioTest({ channel, sink_id: sink, source_id: source ?? '' }, 30_000),
    async select({ body: { sink, source } }) {
      await d.setup.AudioSelect({ channel, sink_id: sink, source_id: source });
      return { ok: true };
    },
    networks: ({ query }) => d.setup.WifiScan({ channel, fresh: query.fresh === '1' }, 30_000),
    async join({ body: { ssid, psk = '', hidden = false } }) {
      const { interrupts } = await d.setup.WifiConnect({ channel, ssid, psk, hidden });
      return { ok: true, interrupts };
    },
    async finish() {
      await d.setup.Finish({ channel });
      return { ok: true };
    },
    async pairing() {
      const p = await d.setup.PairingLink({}, PAIRING_MS);
      return {
        link: p.link,
        device_code: p.device_code,
        secret: p.secret,
        expires_at: Number(p.expires_at),
        qr: d.qr(p.link),
      };
    },
  };
}
