// Every area of the local API; one that is added here is routed, checked, documented and tested.
import { createHash } from 'node:crypto';
import { audioApi } from '../../firmware/audio/api.ts';
import { desktopApi } from '../../firmware/desktop/api.ts';
import { documentsApi } from '../../firmware/documents/api.ts';
import { hooksApi } from '../../firmware/hooks/api.ts';
import { ioApi, ioTopics } from '../../firmware/io/api.ts';
import { mcpApi } from '../../firmware/mcp/api.ts';
import { nodeApi } from '../../firmware/node/api.ts';
import { observeApi } from '../../firmware/observe/api.ts';
import { metricsApi } from '../../firmware/observe/metrics-api.ts';
import { peopleApi } from '../../firmware/people/api.ts';
import { browsersApi } from '../../firmware/people/browsers-api.ts';
import { type Described, openapi } from '../../firmware/protocol/endpoint/openapi.ts';
import { apiPage, pageStyle } from '../../firmware/protocol/endpoint/page.ts';
import { pushApi } from '../../firmware/push/api.ts';
import { scenariosApi } from '../../firmware/scenario/api.ts';
import { appsApi } from '../../firmware/scenario-app/api.ts';
import { setupApi } from '../../firmware/setup/api.ts';
import { skillsApi } from '../../firmware/skills/api.ts';
import { packagesApi } from '../../firmware/skills/packages-api.ts';
import { subnetApi } from '../../firmware/subnet/api.ts';
import { adminApi } from '../../firmware/supervisor/admin.ts';
import { servicesApi } from '../../firmware/supervisor/api.ts';
import { systemApi } from '../../firmware/system/api.ts';
import { version } from '../../firmware/system/config.ts';
import { localSecurity } from '../../firmware/system/local-api.ts';
import { uiTopics } from '../../firmware/ui/topics.ts';
import { updateApi } from '../../firmware/update/api.ts';

export const areas = {
  system: systemApi,
  observe: observeApi,
  metrics: metricsApi,
  io: ioApi,
  speech: audioApi,
  people: peopleApi,
  browsers: browsersApi,
  push: pushApi,
  hooks: hooksApi,
  mcp: mcpApi,
  setup: setupApi,
  update: updateApi,
  documents: documentsApi,
  desktop: desktopApi,
  packages: packagesApi,
  skills: skillsApi,
  apps: appsApi,
  scenarios: scenariosApi,
  services: servicesApi,
  node: nodeApi,
  subnet: subnetApi,
  admin: adminApi,
};

const described: Described = {
  title: 'Ingle: local API of the hub',
  version,
  description:
    'Over HTTP on this computer, and through the end-to-end channel from a paired browser. Errors have one shape.',
  areas,
  topics: { ...ioTopics, ...uiTopics },
  ...localSecurity,
};

/** The OpenAPI document of the local API. */
export const localDocument = (): object => openapi(described);

/** The same as a page, with the policy that lets in its own style sheet and nothing else. */
export function localPage(): { body: string; policy: string } {
  const hash = createHash('sha256').update(pageStyle).digest('base64');
  return {
    body: apiPage(described),
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}
