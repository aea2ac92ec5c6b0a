// The desktop scenario document of the image, in force until an owner sets another.
import { operations, type Scenario } from './scenario.ts';

export const defaultScenario: Scenario = {
  id: 'desktop',
  version: '1.0.0',
  uses: ['icon_manager'],
  layout: { grid: { cols: 6, gap: 14, padding: 20 }, statusBar: true },
  behavior: { sourceOfApps: operations.sourceOfApps, onIconClick: operations.onIconClick[0] },
  policy: { allowSkills: ['*'], ownerOnlySkills: [] },
};
