// Prototypes and what people change of them, for io.ingle.Scenario1.
import { IngleError } from '../protocol/errors.ts';
import { pickLanguage } from '../text/i18n.ts';
import type { Changed, Listed, Offered } from './answers.ts';
import { saidIn } from './fault.ts';
import { type Asker, mayManage, mayStart, userOf } from './household.ts';
import type { ImplementationRow, PrototypeRow } from './library.ts';
import { sealedIn } from './reference.ts';
import type { Implementation, Prototype } from './schema.ts';
import { shownBindings } from './sealed.ts';
import { askerFrom, dict, json, type Methods, type Parts } from './serve-parts.ts';
import { findStep } from './walk.ts';

const isSet = (names: readonly string[], of: object = {}): Record<string, boolean> =>
  Object.fromEntries(names.map((name) => [name, Object.hasOwn(of, name)]));

/** What a version has made of somebody's changes, in a language. */
const told = (problems: ImplementationRow['problems'], locale: string) =>
  problems.map((f) => ({ ...f, says: saidIn(f, pickLanguage([locale])) }));

function listed(
  p: Parts,
  { id, version, prototype, publisher }: PrototypeRow,
  { user, locale }: Asker,
  chosen: Record<string, string>,
): Listed {
  const { implementation, rev, problems } = p.library.implementation(userOf(prototype, user), id);
  const { name, doc, icon, roles, params, paramDocs, slots, triggers, multiUser, io, policy } = prototype;
  const bound = implementation.bindings?.slots ?? {};
  const sealed = sealedIn(prototype.steps);
  return {
    ...{ id, version, publisher, name, doc, icon, roles, params, paramDocs, slots, triggers, io },
    multiUser: multiUser ?? false,
    policy: policy ?? 'single',
    versions: p.library.versions(id),
    says: p.household.examples(id, user),
    enabled: rev > 0 && implementation.enabled !== false,
    unbound: Object.entries(slots ?? {}).flatMap(([slot, { optional }]) =>
      optional || bound[slot]?.skill || Object.hasOwn(chosen, slot) ? [] : [slot],
    ),
    chosen,
    hosts: implementation.hosts ?? prototype.hosts ?? [],
    // By name: whether there is a value, and no value.
    secrets: isSet(sealed.secrets, implementation.bindings?.secrets),
    devices: isSet(sealed.devices, implementation.bindings?.devices),
    problems: told(problems, locale ?? p.o.locale),
  };
}

/** @throws IngleError `forbidden` for a scenario that is not for this role */
function seen(prototype: Prototype, role: string): void {
  if (!mayManage(role) && !mayStart(prototype, role))
    throw new IngleError('forbidden', 'This scenario is not for you. Ask whoever runs the hub.');
}

export function libraryMethods(p: Parts) {
  const { library, household } = p;
  const settled = async (what: string) => {
    await household.settle();
    p.changed(what);
  };
  const shown = (user: string, id: string) => {
    const { prototype, readme } = library.find(id);
    const of = userOf(prototype, user);
    const row = library.implementation(of, id);
    const { bindings } = row.implementation;
    const implementation = bindings
      ? { ...row.implementation, bindings: shownBindings(bindings) }
      : row.implementation;
    // What was left out stands in the prototype alone, with what it does.
    const left_out = (implementation.rewrite ?? []).flatMap(({ action, match }) =>
      action === 'drop' ? (findStep(prototype.steps, match.id)?.step ?? []) : [],
    );
    const effective = library.effective(of, id).scenario;
    // Applications from before readmes had languages know one text.
    const told = { readme: readme['en'] ?? '', readmes: readme };
    const answer: Changed = { ...row, implementation, effective, left_out, ...told };
    return { implementation: dict(answer) };
  };
  return {
    async Prototypes({ asker }) {
      const rows = library.active().filter((r) => mayManage(asker.role) || mayStart(r.prototype, asker.role));
      const who = askerFrom(asker);
      const chosen = await household.chosenBySelf(
        who,
        rows.map((r) => r.id),
      );
      return { prototypes: rows.map((r, i) => dict(listed(p, r, who, chosen[i]!))) };
    },
    async Install({ prototype, readme, publisher }) {
      const value = json(prototype) as unknown as Prototype;
      const { id, version } = await library.install({
        id: value.id,
        version: value.version,
        prototype: value,
        readme,
        publisher,
      });
      await settled('prototypes');
      return { id, version };
    },
    async Use({ id, version }) {
      const row = await library.use(id, version);
      await settled('prototypes');
      return { version: row.version };
    },
    async Versions({ asker, id }) {
      const { locale } = askerFrom(asker);
      const versions = await Promise.all(
        library.offered(id).map(
          async ({ changes, ...of }): Promise<Offered> => ({
            ...of,
            changes: await Promise.all(
              changes.map(async ({ user, problems }) => ({
                ...{ user, name: (await p.o.askerOf(user))?.name ?? null },
                problems: told(problems, locale ?? p.o.locale),
              })),
            ),
          }),
        ),
      );
      return { versions: versions.map(dict) };
    },
    async Remove({ id }) {
      await library.remove(id);
      await settled('prototypes');
      return {};
    },
    Implementation({ asker, user, id }) {
      seen(library.find(id).prototype, asker.role);
      return shown(user, id);
    },
    async Change({ asker, user, id, implementation, rev }) {
      const { prototype } = library.find(id);
      seen(prototype, asker.role);
      if (!prototype.multiUser && !mayManage(asker.role))
        throw new IngleError(
          'forbidden',
          'Everybody shares this scenario. The owner or an admin changes it.',
        );
      const next = json(implementation) as unknown as Implementation;
      await library.change(userOf(prototype, user), id, next, rev >= 0 ? rev : undefined);
      await settled('implementations');
      return shown(user, id);
    },
    async Forget({ user }) {
      for (const { row } of p.runs.live())
        if (row.user === user)
          await p.runs
            .order(row.run_id, 'stop', 'The person it was for is gone.')
            .catch((cause) => p.o.log.info('a run of a person who is gone ends by itself', { cause }));
      await library.forget(user);
      const kept = Object.keys(await p.records.memory(`user.${user}.`));
      await p.records.write(kept.map((key) => ({ op: 'memory', key, value: null })));
      for (const job of p.schedule.list())
        if (job.user === user) await p.schedule.remove(job.job_id).catch(() => {});
      await settled('implementations');
      return {};
    },
  } satisfies Partial<Methods>;
}
