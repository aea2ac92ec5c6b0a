// Debian's packages in a folder, by mmdebstrap.
import { IngleError } from '../firmware/protocol/errors.ts';
import { run } from '../firmware/system/exec.ts';
import { sources, suite } from './packages.ts';

/** Names that apt knows no package of, in what it says. */
export function unknownPackages(said: string): string[] {
  const forms = /Unable to locate package (\S+)|Package '?([^\s']+)'? has no installation candidate/g;
  return [...new Set([...said.matchAll(forms)].map((m) => (m[1] ?? m[2])!))];
}

/**
 * Makes a folder with packages in it; recommended ones are not taken along.
 * @param options of mmdebstrap beside those said here
 * @throws IngleError `invalid_request` with `details.packages` for names that Debian does not have
 */
export async function mmdebstrap(
  out: string,
  o: {
    arch: string;
    packages: readonly string[];
    variant: 'extract' | 'minbase';
    options?: readonly string[];
    env?: Record<string, string>;
    timeoutMs?: number;
  },
): Promise<void> {
  const words = [
    ...['--mode=root', '--format=directory', `--variant=${o.variant}`, `--architectures=${o.arch}`],
    ...['--aptopt=APT::Install-Recommends "false"', ...(o.options ?? [])],
    `--include=${o.packages.join(',')}`,
  ];
  const r = await run('mmdebstrap', [...words, suite, out, ...sources()], {
    timeoutMs: o.timeoutMs ?? 20 * 60_000,
    ...(o.env ? { env: o.env } : {}),
  });
  if (r.code === 0) return;
  const packages = unknownPackages(r.stderr);
  if (packages.length > 0)
    throw new IngleError('invalid_request', `Debian ${suite} has no package ${packages.join(', ')}.`, {
      packages,
    });
  const said = r.stderr.trim().split('\n').slice(-3).join(' ').slice(0, 400);
  throw new IngleError('internal', `mmdebstrap failed (${r.code}): ${said}`);
}
