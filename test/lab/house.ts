// A whole house for a test, from the bundles: built when a source changed, on free ports, in a folder of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type House, startHouse as start } from '../../services/cli/house/house.ts';
import type { HouseOptions } from '../../services/cli/house/plan.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { type InstalledSkill, install } from './installed.ts';

/**
 * Starts root, uplink, api and the skills; `stop` ends them and removes the data unless `data` was given.
 * @param o.installed skills beside those of the image
 */
export async function startHouse(o: HouseOptions & { installed?: InstalledSkill[] } = {}): Promise<House> {
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
  const data = o.data ?? mkdtempSync(join(tmpdir(), 'ingle-house-'));
  for (const s of o.installed ?? []) await install(resolve('dist/skills'), join(data, 'hub'), s);
  const port = o.port ?? (await freePort('127.0.0.1'));
  // Most suites are about the way through root.
  const env = { INGLE_DIRECT: 'off', ...o.env };
  const house = await start({ ...o, env, data, port });
  return {
    ...house,
    async stop() {
      await house.stop();
      if (!o.data) rmSync(data, { recursive: true, force: true });
    },
  };
}
