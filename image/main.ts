// npm run image: the disk image of a device and what goes with it.
import { parseArgs } from 'node:util';
import { IngleError } from '../firmware/protocol/errors.ts';
import { top } from './build.ts';
import { runDevice, runSecret } from './device.ts';
import { runLabel } from './factory.ts';
import { asAnybody } from './host.ts';
import { runKeys } from './keys.ts';
import { archOf, type ReleaseOptions, release, releaseBundle } from './release.ts';
import { runImage } from './run.ts';

const usage = `npm run image                       builds the generic device's image for x86-64 into dist/image
npm run image -- --machine arm64    for another machine (amd64, arm64)
npm run image -- --device <device>  for a device file: a name in image/devices, or a path
npm run image -- --keys <folder>    signed by these keys (see "keys"); --version <version> names it
npm run image -- bundle …           the update bundle alone
npm run image -- run …              builds and boots it in QEMU, with simulated radios
npm run image -- keys …             makes and rotates signing keys
npm run image -- device <device>    checks a device file
npm run image -- secret             makes the hash of a console secret
npm run image -- label …            serial number, label and factory data of one device
`;

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Commands with arguments of their own. */
const others: Readonly<Record<string, (args: string[]) => Promise<unknown>>> = {
  keys: runKeys,
  device: (args) => runDevice(top, args),
  secret: runSecret,
  label: (args) => runLabel(top, args),
  help: async () => void process.stdout.write(usage),
};

async function main(args: string[]): Promise<void> {
  asAnybody();
  const own = others[args[0] ?? ''];
  if (own) {
    await own(args.slice(1));
    return;
  }
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      machine: { type: 'string', default: 'amd64' },
      device: { type: 'string', default: 'generic' },
      keys: { type: 'string' },
      version: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const o: ReleaseOptions = {
    arch: archOf(values.machine),
    device: values.device,
    ...(values.keys === undefined ? {} : { keys: values.keys }),
    ...(values.version === undefined ? {} : { version: values.version }),
    say,
  };
  const work: Readonly<Record<string, () => Promise<string>>> = {
    '': () => release(o),
    bundle: () => releaseBundle(o),
    run: () => runImage(o),
  };
  const act = work[positionals[0] ?? ''];
  if (!act || positionals.length > 1)
    throw new IngleError('invalid_request', `What is "${positionals.join(' ')}"?\n${usage}`);
  process.stdout.write(`${await act()}\n`);
}

main(process.argv.slice(2)).catch((e: unknown) => {
  say(e instanceof Error ? e.message : String(e));
  process.exitCode = 1;
});
