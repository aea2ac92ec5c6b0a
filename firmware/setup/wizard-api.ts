// The setup access point's local API (spec "Setup access point local API") over io.ingle.Setup1. No I/O of its own.
import { IngleError } from '../protocol/errors.ts';
import { shape } from '../protocol/json.ts';
import { type Caller, fromVariant } from '../system/contract.ts';
import { type Action, askStage, may } from './access.ts';
import type { setup1 } from './contract.ts';

export interface WizardDeps {
  setup: Caller<typeof setup1>;
  /** The newest level of the source under test, 0..1; null when none is heard. */
  level(): number | null;
  /** The newest progress of each step. */
  progress(): Record<string, unknown>[];
  /** QR code of a text as an SVG path with its size in modules. */
  qr(text: string): { size: number; path: string };
}

type Route = (body: unknown, query: URLSearchParams) => Promise<unknown>;

/** What each route does, as firmware/setup/access.ts calls it. */
const actions: Readonly<Record<string, Action>> = {
  'GET /api/status': 'status',
  'GET /api/audio/devices': 'look',
  'POST /api/audio/test': 'audio',
  'POST /api/audio/select': 'audio',
  'GET /api/wifi/scan': 'look',
  'POST /api/wifi/connect': 'join',
  'POST /api/finish': 'finish',
  'GET /api/pairing': 'pair',
};

/** Routes by `METHOD path`; each answers the JSON body of a 200, for whoever is in the access point. */
export function wizardRoutes(d: WizardDeps): Record<string, Route> {
  const guarded = Object.entries(routesOf(d)).map(([name, route]): [string, Route] => [
    name,
    async (body, query) => {
      if (!may('softap', await askStage(d.setup), actions[name]!, ['psk']))
        throw new IngleError('forbidden', 'Not from the setup page. Use the console of the hub.');
      return route(body, query);
    },
  ]);
  return Object.fromEntries(guarded);
}

function routesOf(d: WizardDeps): Record<string, Route> {
  const device = ([id, name, type, score, usable]: [string, string, string, number, boolean]) => ({
    id,
    name,
    type,
    score,
    usable,
  });
  const channel = 'softap';
  return {
    'GET /api/status': async () => {
      const s = await d.setup.Status({});
      return {
        state: s.state,
        mode: s.mode,
        attempts: s.attempts,
        ...(fromVariant(s.detail) as object),
        level: d.level(),
        progress: d.progress(),
      };
    },
    'GET /api/audio/devices': async () => {
      const { sinks, sources } = await d.setup.AudioDevices({ channel });
      return { sinks: sinks.map(device), sources: sources.map(device) };
    },
    'POST /api/audio/test': async (body) => {
      const { sink, source } = shape(body, { sink: 'string', source: 'string?' });
      return d.setup.AudioTest({ channel, sink_id: sink, source_id: source ?? '' }, 30_000);
    },
    'POST /api/audio/select': async (body) => {
      const { sink, source } = shape(body, { sink: 'string', source: 'string' });
      await d.setup.AudioSelect({ channel, sink_id: sink, source_id: source });
      return { ok: true };
    },
    'GET /api/wifi/scan': async (_body, query) => {
      const { networks, age_s } = await d.setup.WifiScan(
        { channel, fresh: query.get('fresh') === '1' },
        30_000,
      );
      return {
        networks: networks.map(([ssid, signal, security]) => ({ ssid, signal, security })),
        age_s,
      };
    },
    'POST /api/wifi/connect': async (body) => {
      const { ssid, psk, hidden } = shape(body, { ssid: 'string', psk: 'string?', hidden: 'boolean?' });
      const { interrupts } = await d.setup.WifiConnect({
        channel,
        ssid,
        psk: psk ?? '',
        hidden: hidden ?? false,
      });
      return { ok: true, interrupts };
    },
    'POST /api/finish': async () => {
      await d.setup.Finish({ channel });
      return { ok: true };
    },
    'GET /api/pairing': async () => {
      const p = await d.setup.PairingLink({}, 30_000);
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

/** @throws IngleError `not_found` or `method_not_allowed` */
export function findRoute(routes: Record<string, Route>, method: string, path: string): Route {
  const route = Object.hasOwn(routes, `${method} ${path}`) ? routes[`${method} ${path}`] : undefined;
  if (route) return route;
  if (Object.keys(routes).some((r) => r.endsWith(` ${path}`)))
    throw new IngleError('method_not_allowed', `${path} does not take ${method}.`);
  throw new IngleError('not_found', `There is nothing at ${path}.`);
}
