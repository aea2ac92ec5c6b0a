// How a test starts a program of ours: its bundle where that is as new as the sources, as the hub runs it; else the
// sources, which takes tsx ten times as long.
import { existsSync } from 'node:fs';

const { isFresh } = await import('../../services/cli/build.mjs' as string);
const isBuilt: boolean = isFresh();

/** @returns the words after `node` for a source such as `services/api/main.ts` */
export function programOf(source: string): string[] {
  const bundle = `dist/${source.replace(/\.ts$/, '.js')}`;
  return isBuilt && existsSync(bundle) ? [bundle] : ['--import', 'tsx', source];
}
