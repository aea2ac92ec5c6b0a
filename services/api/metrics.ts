// What the hub has counted, as text: this service's own numbers, and those of the scenario service where it is there.
import { EXPOSITION_TYPE, exposition } from '../../firmware/observe/exposition.ts';
import { metricsApi } from '../../firmware/observe/metrics-api.ts';
import { bind } from '../../firmware/protocol/endpoint/router.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { version } from '../../firmware/system/config.ts';
import type { LocalEndpoint } from './dispatch.ts';
import type { Server } from './server.ts';

/** A service that is asked has this time, milliseconds; who collects asks again soon. */
const ASK_MS = 3000;

export function metricsEndpoints(o: {
  bus: Bus;
  skills(): { known: number; available: number };
  server(): Pick<Server, 'counts' | 'begun'>;
}): LocalEndpoint[] {
  const { bus } = o;
  const began = Date.now() / 1000 - process.uptime();

  /** Undefined where it is not there: a call would start it. */
  async function ofScenarios(): Promise<string | undefined> {
    try {
      if (!(await bus.listNames()).includes(scenario1.bus)) return undefined;
      return (await bus.client(scenario1).Exposition({}, ASK_MS)).text;
    } catch {
      return undefined;
    }
  }

  function own(isScenarioUp: boolean): string {
    const { requests, streams, sockets } = o.server().counts();
    const { known, available } = o.skills();
    const gauge = (name: string, help: string, value: number) =>
      ({ name, type: 'gauge', help, samples: [{ value }] }) as const;
    return exposition([
      { ...gauge('ingle_info', 'The version that runs.', 1), samples: [{ labels: { version }, value: 1 }] },
      {
        name: 'ingle_up',
        type: 'gauge',
        help: 'Whether a service is there; ingle-scenario rests where nothing waits for it.',
        samples: [
          { labels: { service: 'ingle-api' }, value: 1 },
          { labels: { service: 'ingle-scenario' }, value: isScenarioUp ? 1 : 0 },
        ],
      },
      gauge('process_start_time_seconds', 'When ingle-api started, Unix seconds.', began),
      gauge('process_resident_memory_bytes', 'Memory of ingle-api.', process.memoryUsage.rss()),
      {
        name: 'ingle_api_requests_total',
        type: 'counter',
        help: 'Requests of the local API.',
        samples: [{ value: o.server().begun() }],
      },
      gauge('ingle_api_open_requests', 'Requests that are answered now, streams among them.', requests),
      gauge('ingle_api_open_streams', 'Streams of events.', streams),
      gauge('ingle_api_open_sockets', 'WebSockets.', sockets),
      gauge('ingle_skills_known', 'Skills of the hub.', known),
      gauge('ingle_skills_available', 'Skills that answer now.', available),
    ]);
  }

  return bind(metricsApi, {
    async metrics() {
      const theirs = await ofScenarios();
      return {
        status: 200,
        headers: { 'content-type': EXPOSITION_TYPE },
        body: own(theirs !== undefined) + (theirs ?? ''),
      };
    },
  });
}
