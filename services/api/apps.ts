// Answers of firmware/scenario-app/api.ts: an app is compiled from its skill's bundle when it is first asked for.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { etagOf, type JsonObject } from '../../firmware/documents/content.ts';
import { formatKey } from '../../firmware/documents/key.ts';
import type { openSigner } from '../../firmware/documents/sign.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { parseObject } from '../../firmware/protocol/json.ts';
import { appsApi } from '../../firmware/scenario-app/api.ts';
import {
  type AppProblem,
  compileApp,
  contractsOf,
  MAX_SOURCE,
  sourceIn,
} from '../../firmware/scenario-app/compile.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { bundleOf, readSlots } from '../../firmware/skills/table.ts';
import type { Config } from '../../firmware/system/config.ts';
import type { Log } from '../../firmware/system/log.ts';
import { type App, appPath } from '../../firmware/ui/app.ts';
import { type Asked, type LocalEndpoint, type Offer, usableBy } from './dispatch.ts';
import type { Response } from './http.ts';

interface Compiled {
  /** Of the file it was made of. */
  stamp: string;
  made: Promise<{ app: App; etag: string }>;
}

export function appEndpoints(
  o: Offer & { config: Config; signer: ReturnType<typeof openSigner>; log: Log },
): LocalEndpoint[] {
  const compiled = new Map<string, Compiled>();

  function fileOf(id: string): string {
    const slot = [...readSlots(o.config).slots.values()].find((s) => s.skill_id === id);
    if (!slot) throw new IngleError('not_found', `The skill "${id}" is not installed.`);
    return join(bundleOf(o.config, slot), 'scenario.json');
  }

  async function make(file: string, manifest: Manifest): Promise<{ app: App; etag: string }> {
    const source = sourceIn(parseObject(readFileSync(file), MAX_SOURCE));
    const may = contractsOf(manifest.permissions?.contracts);
    const { app, problems } = await compileApp(source, manifest.id, may);
    for (const p of problems.slice(0, 20)) o.log.warn('an app has a fault', { skill: manifest.id, ...p });
    if (!app)
      throw new IngleError('invalid_request', `The app of "${manifest.id}" is faulty: ${first(problems)}`);
    return { app, etag: etagOf(app as unknown as JsonObject) };
  }

  /** The app of a skill, compiled anew when its bundle is another. */
  async function appOf(manifest: Manifest): Promise<{ app: App; etag: string }> {
    const { id, version } = manifest;
    if (!manifest.capabilities.ui?.app)
      throw new IngleError('not_supported', `The skill "${id}" brings no app.`);
    const file = fileOf(id);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) throw new IngleError('not_found', `The skill "${id}" has no scenario.json.`);
    if (stat.size > MAX_SOURCE)
      throw new IngleError('too_large', `The app of "${id}" has more than ${MAX_SOURCE} bytes.`);
    const stamp = `${file} ${version} ${stat.size} ${stat.mtimeMs}`;
    const known = compiled.get(id);
    if (known?.stamp === stamp) return known.made;
    const made = make(file, manifest);
    compiled.set(id, { stamp, made });
    made.catch(() => compiled.delete(id));
    return made;
  }

  const handlers: Handlers<typeof appsApi, Asked, Response> = {
    list: ({ caller }) => ({
      apps: usableBy(o, caller).flatMap(({ id, version, capabilities: { ui } }) =>
        ui?.app ? [{ id, title: ui.title, version, path: appPath(id) }] : [],
      ),
    }),
    async read({ params: { skill_id }, caller, owner_id }) {
      const { app, etag } = await appOf(o.skills.known().get(skill_id)!.manifest);
      const mine = new Set(usableBy(o, caller).map((m) => m.id));
      const key = `apps/${skill_id}`;
      const documents = [skill_id, ...app.skills]
        .filter((id) => mine.has(id))
        .map((id) => [id, formatKey({ owner_id, skill_id: id, doc_type: 'state', branch: 'main' })]);
      return {
        ...{ app, key, etag, signature: o.signer.sign(key, etag), public_key: o.signer.publicKey },
        documents: Object.fromEntries(documents) as Record<string, string>,
      };
    },
  };
  return bind(appsApi, handlers);
}

const first = ([p]: readonly AppProblem[]): string => (p ? `${p.file} ${p.pointer} ${p.hint}` : '');
