// Every area of the local API; one that is added here is routed, checked, documented and tested.
import { documentsApi } from '../../firmware/documents/api.ts';
import { observeApi } from '../../firmware/observe/api.ts';
import { openapi } from '../../firmware/protocol/endpoint/openapi.ts';
import { setupApi } from '../../firmware/setup/api.ts';
import { skillsApi } from '../../firmware/skills/api.ts';
import { systemApi } from '../../firmware/system/api.ts';
import { version } from '../../firmware/system/config.ts';
import { localSecurity } from '../../firmware/system/local-api.ts';
import { updateApi } from '../../firmware/update/api.ts';

export const areas = {
  system: systemApi,
  observe: observeApi,
  setup: setupApi,
  update: updateApi,
  documents: documentsApi,
  skills: skillsApi,
};

/** The OpenAPI document of the local API. */
export const localDocument = (): object =>
  openapi({
    title: 'Ingle: local API of the hub',
    version,
    description:
      'Over HTTP on this computer, and through the end-to-end channel from a paired browser. Errors have one shape.',
    areas,
    ...localSecurity,
  });
