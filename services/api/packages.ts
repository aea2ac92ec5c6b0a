// Answers of firmware/skills/packages-api.ts: what is installed, and the owner's orders about it.
import { fromBase64url } from '../../firmware/protocol/bytes.ts';
import type { Answer as Said } from '../../firmware/protocol/endpoint/endpoint.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Installer } from '../../firmware/skills/install.ts';
import { type Kept, keptOf } from '../../firmware/skills/install-machine.ts';
import type { Row } from '../../firmware/skills/install-parts.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { packagesApi } from '../../firmware/skills/packages-api.ts';
import {
  keyIdOf,
  nameOf,
  type Publishers,
  parsePublisher,
  trustIn,
  withPublisher,
  withRevoked,
} from '../../firmware/skills/publishers.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

type Shown = Said<typeof packagesApi.list>['skills'][number];

const idOf = (key: string) => keyIdOf(fromBase64url(key));
const publisherOf = (p: Publishers, key: string | null) =>
  key === null ? null : { key, id: idOf(key), name: nameOf(p, key) ?? null };

function trustOf(p: Publishers, skill_id: string, key: string | null) {
  try {
    return trustIn(p, skill_id, key ?? undefined);
  } catch {
    return 'refused' as const;
  }
}

function shownKept(p: Publishers, skill_id: string, { version, key, size, prepared_at, manifest }: Kept) {
  return {
    ...{ version, size, prepared_at, manifest: { ...manifest } },
    publisher: publisherOf(p, key),
    trust: trustOf(p, skill_id, key),
  };
}

function titlesOf(manifest: Manifest | undefined, id: string) {
  const ui = manifest?.capabilities.ui;
  return { title: ui?.title ?? id, ...(ui?.titles ? { titles: ui.titles } : {}) };
}

export function packageEndpoints(o: {
  installer: Installer;
  skills: Pick<Skills, 'known'>;
  /** Skills of the image. */
  builtin(): readonly string[];
  publishers(): Publishers;
  developer: { get(): boolean; set(on: boolean): Promise<void> };
  sandbox: Said<typeof packagesApi.list>['sandbox'];
}): LocalEndpoint[] {
  const { installer } = o;

  function shown({ key: skill_id, state, memory }: Row): Shown {
    const p = o.publishers();
    const { current, previous, trying, fault, unsigned } = memory;
    const used = keptOf(memory, current);
    const any = used ?? memory.kept.at(-1);
    return {
      ...{ skill_id, state, previous, trying, fault, unsigned, version: current },
      ...titlesOf(o.skills.known().get(skill_id)?.manifest ?? any?.manifest, skill_id),
      available: o.skills.known().get(skill_id)?.available ?? false,
      off: state === 'active' && o.sandbox !== 'there' && !o.developer.get() ? 'no_sandbox' : null,
      publisher: any ? publisherOf(p, any.key) : null,
      trust: any ? trustOf(p, skill_id, any.key) : null,
      prepared: memory.kept.filter((k) => k !== used).map((k) => shownKept(p, skill_id, k)),
    };
  }
  function ofImage(skill_id: string): Shown {
    const known = o.skills.known().get(skill_id);
    return {
      ...{ skill_id, state: 'image', version: known?.manifest.version ?? null },
      ...titlesOf(known?.manifest, skill_id),
      available: known?.available ?? false,
      ...{
        off: null,
        publisher: null,
        trust: null,
        unsigned: false,
        previous: null,
        trying: null,
        fault: null,
      },
      prepared: [],
    };
  }
  const bytesOf = (body: Uint8Array | string) =>
    typeof body === 'string' ? new TextEncoder().encode(body) : body;

  const handlers: Handlers<typeof packagesApi, Asked, Response> = {
    list: () => ({
      developer: o.developer.get(),
      sandbox: o.sandbox,
      skills: [...o.builtin().map(ofImage), ...installer.rows().map(shown)],
    }),
    async prepare({ body }) {
      const { row, kept } = await installer.prepare(bytesOf(body));
      return { skill: shown(row), package: shownKept(o.publishers(), row.key, kept) };
    },
    install: async ({ body }) => shown(await installer.install(bytesOf(body))),
    async developer({ body: { on } }) {
      await o.developer.set(on);
      return { ok: true };
    },
    activate: async ({ params, body }) => shown(await installer.activate(params.skill_id, body.version)),
    rollback: async ({ params }) => shown(await installer.rollback(params.skill_id)),
    async remove({ params }) {
      await installer.remove(params.skill_id);
      return { ok: true };
    },
    async discard({ params }) {
      await installer.discard(params.skill_id, params.version);
      return { ok: true };
    },
    publishers() {
      const { maker, publishers } = o.publishers();
      const owned = new Set(publishers.map((p) => p.key));
      const all = [...publishers, ...maker.filter((p) => !owned.has(p.key))];
      return {
        publishers: all.map(({ key, name, ids, revoked }) => ({
          ...{ key, id: idOf(key), name, ids: ids ?? null, revoked: revoked ?? false },
          maker: maker.some((m) => m.key === key),
        })),
      };
    },
    async trust({ body }) {
      const publisher = parsePublisher(JSON.stringify(body));
      await installer.owned((p) => withPublisher(p, publisher));
      return { ok: true };
    },
    async revoke({ params: { key } }) {
      await installer.owned((p) => {
        if (![...p.maker, ...p.publishers].some((e) => e.key === key))
          throw new IngleError('not_found', 'No publisher with this key is known here.');
        return withRevoked(p, key);
      });
      return { ok: true };
    },
  };
  return bind(packagesApi, handlers);
}
