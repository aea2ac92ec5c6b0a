// The local API of what is counted, for programs that collect it.
import { localArea } from '../system/local-api.ts';

export const metricsApi = localArea({
  metrics: {
    method: 'GET',
    path: '/api/metrics',
    who: 'owner',
    doc: 'What the hub has counted, as text of the Prometheus format 0.0.4. A service that is not there is not started for it; `ingle_up` says so.',
  },
});
