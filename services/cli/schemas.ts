// The schemas that others write files by; the build publishes each as dist/schemas/<name>.json (rollup.schemas.js).
import { scenarioSchema } from '../../firmware/desktop/scenario.ts';
import { deviceSchema } from '../../firmware/device/device.ts';
import { interestSchema } from '../../firmware/interest/request.ts';
import { implementationSchema, prototypeSchema } from '../../firmware/scenario/schema.ts';
import { scenarioAppSchema } from '../../firmware/scenario-app/schema.ts';
import { manifestSchema } from '../../firmware/skills/manifest.ts';
import { packageSchema } from '../../firmware/skills/package-meta.ts';
import { viewSchema, viewSchema1 } from '../../firmware/ui/schema.ts';
import { usdlSchema } from '../../firmware/ui/usdl/schema.ts';
import { weatherSchema } from '../../firmware/weather/report.ts';

export const schemas = {
  manifest: manifestSchema,
  package: packageSchema,
  desktop: scenarioSchema,
  'scenario-app': scenarioAppSchema,
  'scenario-prototype': prototypeSchema,
  'scenario-implementation': implementationSchema,
  device: deviceSchema,
  'ui-v0': viewSchema,
  'ui-v0.1': viewSchema1,
  'usdl-0.2': usdlSchema,
  interest: interestSchema,
  'weather-update': weatherSchema,
};
