// `ingle init`: enrols the hub, and asks a person before it takes another owner or application than it has.
import { createInterface } from 'node:readline/promises';
import { IngleError, toIngleError } from '../../../firmware/protocol/errors.ts';
import type { Caller, Values } from '../../../firmware/system/contract.ts';
import type { uplink1 } from '../../../firmware/uplink/contract.ts';
import type { Say } from '../say.ts';
import { plain, when } from '../show.ts';

type Uplink = Pick<Caller<typeof uplink1>, 'Enrol' | 'Offered' | 'Adopt' | 'Status'>;
type Out<M extends 'Enrol' | 'Offered'> = Values<(typeof uplink1)['methods'][M]['out']>;
type Place = Omit<Out<'Offered'>, 'changes'>;

/** The options that name what a script accepts. */
const named = { owner_id: 'owner-id', subnet_id: 'subnet-id', hub_id: 'hub-id', app_url: 'app-url' } as const;
const fields = Object.keys(named) as (keyof Place)[];

export interface InitOptions {
  flags: ReadonlySet<string>;
  values: Readonly<Record<string, string>>;
  /** Puts a question to a person; absent where nobody can answer. */
  ask?: ((question: string) => Promise<string>) | undefined;
}

/** @throws IngleError `conflict` when another place is offered and not accepted; nothing has changed then. */
export async function init(uplink: Uplink, say: Say, o: InitOptions): Promise<void> {
  const { root } = await uplink.Status({});
  let enrolled: Out<'Enrol'>;
  try {
    enrolled = await uplink.Enrol({});
  } catch (cause) {
    const e = toIngleError(cause);
    if (e.code !== 'conflict') throw e;
    const { changes, ...place } = await uplink.Offered({});
    if (changes.length === 0) throw e;
    say.event({ event: 'offered', ...place, changes });
    say.line(say.text('initOther', { root }));
    for (const { field, was, now } of changes)
      say.line(`  ${say.text('initChange', { field, was: plain(was, 256), now: plain(now, 256) })}`);
    say.line(say.text('initForgets'));
    say.line(say.text('initDoubt'));
    await accepted(place, say, o);
    enrolled = await uplink.Adopt(place);
    say.line(say.text('initAdopted'));
  }
  tell(enrolled, say, root);
}

/** Settles when exactly this place is accepted. @throws IngleError `conflict`, `invalid_request` */
async function accepted(place: Place, say: Say, o: InitOptions): Promise<void> {
  const command = `ingle init --yes ${fields.map((f) => `--${named[f]} ${place[f]}`).join(' ')}`;
  if (o.flags.has('yes')) {
    const missing = fields.find((f) => o.values[named[f]] === undefined);
    if (missing) throw new IngleError('invalid_request', say.text('initNames', { command }));
    if (fields.some((f) => o.values[named[f]] !== place[f]))
      throw new IngleError('conflict', say.text('initDiffers'));
    return;
  }
  if (!o.ask) throw new IngleError('conflict', say.text('initScript', { command }));
  const { host } = new URL(place.app_url);
  if ((await o.ask(say.text('initType', { host }))).trim() !== host)
    throw new IngleError('conflict', say.text('initKept'));
}

function tell(e: Out<'Enrol'>, say: Say, root: string): void {
  const expires = Number(e.expires_at);
  const days = Math.round((expires - Date.now() / 1000) / 86_400);
  say.event({ ...e, expires_at: expires, lifetime_days: days });
  say.line(say.text('initDone', { root }));
  const row = (name: string, value: string) => say.line(`  ${name.padEnd(14)}${value}`);
  row(say.text('fieldOwner'), e.owner_id);
  row(say.text('fieldSubnet'), e.subnet_id);
  row(say.text('fieldHub'), e.hub_id);
  row(say.text('fieldKeys'), e.keys);
  row(say.text('fieldValid'), say.text('validUntil', { date: when(expires), days }));
}

/** Asks at the terminal; undefined where there is none, as for a script. */
export function asker(json: boolean): InitOptions['ask'] {
  const { stdin, stdout } = process;
  if (json || !stdin.isTTY || !stdout.isTTY) return undefined;
  return async (question) => {
    const terminal = createInterface({ input: stdin, output: stdout });
    try {
      return await terminal.question(question);
    } finally {
      terminal.close();
    }
  };
}
