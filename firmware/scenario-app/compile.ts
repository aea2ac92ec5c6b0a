// A scenario app as its author wrote it, made into what the application draws: each page a tree, confined. Pure.
import { IngleError } from '../protocol/errors.ts';
import { APP_VERSION, type App, type AppRoute, type Guard, type Prefetch } from '../ui/app.ts';
import { compile } from '../ui/compile.ts';
import { pathOf, payloadOf } from '../ui/expression.ts';
import { below } from '../ui/needs.ts';
import type { Lazy, Node, Path, Tree, Value } from '../ui/tree.ts';
import { isLazy } from '../ui/value.ts';
import { type Confinement, confinement, readElsewhere } from './confine.ts';
import type { Contracts } from './policy.ts';
import { type ScenarioApp, scenarioFaults } from './schema.ts';

/** What a skill's bundle has in scenario.json: scenario.yaml and its pages, each as the value it stands for. */
export interface AppSource {
  scenario: unknown;
  /** By the names that `usdl` says. */
  pages: Readonly<Record<string, unknown>>;
}

/** The most scenario.json may have, bytes. */
export const MAX_SOURCE = 512 * 1024;

/** What is wrong with an app, by file and pointer (RFC 6901). */
export interface AppProblem {
  file: string;
  pointer: string;
  code: string;
  hint: string;
}

const main = 'scenario.yaml';
/** `$` of every page. */
const names = { root: ['state', 'viewModel'] } as const;

/** @throws IngleError `invalid_request` for what is no such file */
export function sourceIn(value: unknown): AppSource {
  const { scenario, pages } = Object(value) as Partial<AppSource>;
  if (pages === null || typeof pages !== 'object' || Array.isArray(pages))
    throw new IngleError('invalid_request', 'scenario.json has no pages.', { path: 'scenario.json' });
  return { scenario, pages };
}

const wordsOf = (words: string | Record<string, string>): Value =>
  typeof words === 'string' ? words : { i18n: words };

/** The tables of a page that ask for rows. */
function lazyIn(tree: Tree): Lazy[] {
  const found: Lazy[] = [];
  const visit = (n: Node): void => {
    if (n.is === 'table' && isLazy(n.rows)) found.push(n.rows);
    below(n).forEach(visit);
  };
  for (const slot of ['header', 'main', 'aside', 'modal', 'toast'] as const) tree[slot]?.forEach(visit);
  return found;
}

function prefetched(
  route: ScenarioApp['routes'][string],
  tree: Tree,
  confined: Confinement,
  problem: (at: string, code: string, hint: string) => void,
): Prefetch[] {
  const tables = lazyIn(tree);
  return (route.prefetch ?? []).flatMap(({ query, params }, i): Prefetch[] => {
    const at = `/prefetch/${i}`;
    const target = confined.target(query);
    const table = tables.find((t) => t.query === query);
    if (!target || !table) {
      problem(`${at}/query`, 'unused', `No table of the page asks "${query}".`);
      return [];
    }
    const fault = (part: string) =>
      problem(`${at}/params`, 'bad_expression', `"${part.slice(0, 80)}" is no path.`);
    const given = params === undefined ? undefined : payloadOf(params, names, fault);
    return [{ query, target, pageSize: table.pageSize, ...(given === undefined ? {} : { params: given }) }];
  });
}

const guardOf = ({
  hasParam,
  has,
  else: other,
}: NonNullable<ScenarioApp['routes'][string]['guards']>[number]) =>
  ({
    ...(hasParam === undefined ? {} : { hasParam }),
    ...(has === undefined ? {} : { has: pathOf(has, names) as Path }),
    ...(other === undefined ? {} : { else: other }),
  }) satisfies Guard;

/** What the manifest lets the app ask: owners read the manifest, so what it does not name is not given. */
function granted(scenario: ScenarioApp, may: Contracts, problem: (p: AppProblem) => void): Contracts {
  const all = new Map<string, readonly string[]>();
  for (const [i, { skill, contracts }] of (scenario.permissions ?? []).entries()) {
    const given = may.get(skill);
    const lacks = given ? contracts.filter((c) => !given.includes(c)) : contracts;
    if (!given || lacks.length > 0)
      problem({
        file: main,
        pointer: `/permissions/${i}`,
        code: 'not_declared',
        hint: `permissions.contracts of manifest.json does not name ${[skill, ...lacks].join(', ')}.`,
      });
    if (given)
      all.set(
        skill,
        contracts.filter((c) => given.includes(c)),
      );
  }
  return all;
}

/** The permissions of an app as its manifest says them. */
export const contractsOf = (
  list: readonly { skill: string; contracts: readonly string[] }[] | undefined,
): Contracts => new Map((list ?? []).map((p) => [p.skill, p.contracts]));

/**
 * Compiles an app. Faults of scenario.yaml leave no app; those of a page are notes in it.
 * @param id the skill it comes with
 * @param may what the skill's manifest lets it ask of others
 */
export async function compileApp(
  { scenario: given, pages }: AppSource,
  id: string,
  may: Contracts,
): Promise<{ app: App | null; problems: AppProblem[] }> {
  const problems: AppProblem[] = scenarioFaults(given, id).map(({ pointer, says }) => ({
    file: main,
    pointer,
    code: 'invalid',
    hint: says,
  }));
  if (problems.length > 0) return { app: null, problems };
  const scenario = given as ScenarioApp;
  const contracts = granted(scenario, may, (p) => problems.push(p));
  const confined = confinement(id, contracts);
  const parts = [id, ...contracts.keys()];
  const routes: AppRoute[] = [];
  const trees = new Map<string, Tree>();
  for (const [name, route] of Object.entries(scenario.routes)) {
    const file = route.usdl;
    if (!trees.has(file)) trees.set(file, await treeOf(file));
    const tree = trees.get(file)!;
    routes.push({
      name,
      path: route.path,
      title: wordsOf(route.title),
      guards: (route.guards ?? []).map(guardOf),
      prefetch: prefetched(route, tree, confined, (at, code, hint) =>
        problems.push({ file: main, pointer: `/routes/${name}${at}`, code, hint }),
      ),
      tree,
    });
  }
  return {
    app: {
      app: APP_VERSION,
      id,
      name: scenario.name,
      version: scenario.version,
      title: wordsOf(scenario.title),
      tokens: scenario.theme?.tokens ?? 'hearth',
      entry: scenario.entry,
      routes,
      menu: (scenario.menu ?? []).map((m) => m.route),
      initial: scenario.viewModel?.initial ?? {},
      skills: [...contracts.keys()],
    },
    problems,
  };

  /** A page as a confined tree. */
  async function treeOf(file: string): Promise<Tree> {
    const note = (pointer: string, code: string, hint: string) => {
      problems.push({ file, pointer, code, hint });
    };
    const page = Object.hasOwn(pages, file) ? pages[file] : undefined;
    const isPage = page !== null && typeof page === 'object' && !Array.isArray(page);
    const { version } = Object(page) as { version?: unknown };
    if (page === undefined) note('', 'missing', 'The file is not there.');
    else if (!isPage || typeof version !== 'string' || !version.startsWith('usdl/'))
      note('/version', 'invalid', 'A page of an app is a document of USDL: version "usdl/0.2".');
    const source =
      isPage && String(version).startsWith('usdl/') ? page : { version: 'usdl/0.2', components: [] };
    const made = await compile(source as Record<string, unknown>);
    for (const p of made.problems) note(p.pointer, p.code, p.hint);
    for (const other of readElsewhere(made.tree, parts))
      note('', 'elsewhere', `"$.${other}" is no part of the view model; there is ${parts.join(', ')}.`);
    const model = made.tree.state?.['viewModel'];
    for (const key of Object.keys(Object(model) as object))
      if (!parts.includes(key))
        note('/viewModel', 'elsewhere', `"${key.slice(0, 64)}" is no part of the view model.`);
    return confined.tree(made.tree, (p) => note('', p.code, `${p.pointer}: ${p.hint}`));
  }
}
