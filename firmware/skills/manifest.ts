// The skill manifest: what a skill is, shows and may do. Types and a strict check that speaks to the skill's author. Pure.
import { isSkillId } from '../documents/key.ts';
import { IngleError } from '../protocol/errors.ts';

export type Mode = 'modal' | 'panel';

export interface Manifest {
  id: string;
  /** Semantic version (semver.org 2.0.0). */
  version: string;
  capabilities: {
    visual?: boolean;
    ui?: {
      /** A name of an icon set, or a `data:image/svg+xml` value. */
      icon?: string;
      title: string;
      /** The title by language (BCP 47); `title` stands in. */
      titles?: Record<string, string>;
      /** Path of the panel page, `/v1/ui/...`. */
      entrypoint?: string;
      modes: Mode[];
      sizeHints?: { w: number; h: number };
      /** `ui/v0`: the skill's screen is data (6b). */
      schema?: 'ui/v0';
    };
    streams?: { supportsDeclarativeInterest?: boolean };
  };
  permissions?: { ownerOnly?: boolean };
}

const semver = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
type Check = (v: unknown, pointer: string) => void;

const fail = (pointer: string, says: string): never => {
  throw new IngleError('invalid_request', `The manifest${pointer ? `'s ${pointer}` : ''} ${says}.`, {
    pointer,
  });
};
const boolean: Check = (v, p) => typeof v === 'boolean' || fail(p, 'must be true or false');
const text =
  (max: number, form?: RegExp, says = 'has the wrong form'): Check =>
  (v, p) => {
    if (typeof v !== 'string' || v === '') fail(p, 'must be a text');
    else if (v.length > max) fail(p, `may have at most ${max} characters`);
    else if (form && !form.test(v)) fail(p, says);
  };
const size: Check = (v, p) => {
  if (typeof v !== 'number' || !(v >= 50 && v <= 4000)) fail(p, 'must be a number of pixels from 50 to 4000');
};
const fields =
  (known: Record<string, Check>, required: string[] = []): Check =>
  (v, p) => {
    if (v === null || typeof v !== 'object' || Array.isArray(v)) return fail(p, 'must be an object');
    for (const name of required) if (!Object.hasOwn(v, name)) fail(`${p}/${name}`, 'is missing');
    for (const [name, value] of Object.entries(v)) {
      const check = Object.hasOwn(known, name) ? known[name] : undefined;
      if (!check) fail(`${p}/${name}`, 'is not a field of manifests');
      else check(value, `${p}/${name}`);
    }
  };
const modes: Check = (v, p) => {
  if (!Array.isArray(v) || v.length === 0) return fail(p, 'must be a list of "modal" and "panel"');
  if (v.some((m) => m !== 'modal' && m !== 'panel')) fail(p, 'may hold "modal" and "panel" only');
  if (new Set(v).size !== v.length) fail(p, 'names a mode twice');
};

const titles: Check = (v, p) => {
  if (v === null || typeof v !== 'object' || Array.isArray(v)) return fail(p, 'must be an object');
  for (const [language, title] of Object.entries(v)) {
    if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(language)) fail(`${p}/${language}`, 'is not a language');
    text(80)(title, `${p}/${language}`);
  }
};

const ui = fields(
  {
    icon: text(
      8192,
      /^(?:[a-z0-9][a-z0-9-]{0,63}|data:image\/svg\+xml[;,].+)$/s,
      'is neither an icon name nor data:svg',
    ),
    title: text(80),
    titles,
    entrypoint: text(200, /^\/v1\/ui\/[\w\-/]+$/, 'must be a path below /v1/ui/'),
    modes,
    sizeHints: fields({ w: size, h: size }, ['w', 'h']),
    schema: (v, p) => v === 'ui/v0' || fail(p, 'must be "ui/v0"'),
  },
  ['title', 'modes'],
);

const manifest = fields(
  {
    id: (v, p) => {
      if (typeof v !== 'string' || !isSkillId(v))
        fail(p, 'must be lower-case letters, digits and "_", beginning with a letter, at most 48');
    },
    version: text(64, semver, 'is not a semantic version, as 1.0.0'),
    capabilities: fields({
      visual: boolean,
      ui,
      streams: fields({ supportsDeclarativeInterest: boolean }),
    }),
    permissions: fields({ ownerOnly: boolean }),
  },
  ['id', 'version', 'capabilities'],
);

/**
 * Checks a manifest strictly.
 * @throws IngleError `invalid_request`: one sentence, with `details.pointer` = the JSON pointer of the fault.
 */
export function checkManifest(value: unknown): Manifest {
  manifest(value, '');
  const m = value as Manifest;
  if (m.capabilities.visual && !m.capabilities.ui)
    fail('/capabilities/ui', 'is missing, a visual skill needs it');
  if (m.capabilities.ui && !m.capabilities.ui.schema && !m.capabilities.ui.entrypoint)
    fail('/capabilities/ui', 'needs a schema or an entrypoint');
  return m;
}
