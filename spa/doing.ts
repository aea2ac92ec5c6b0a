// What a tap on a skill's screen does: a command to the hub, a value set here, another place, rows asked for again.
import { IngleError } from '../firmware/protocol/errors.ts';
import { translator } from '../firmware/text/i18n.ts';
import { spaDoingTexts } from '../firmware/text/spa-doing.ts';
import { type Own, openOwn } from '../firmware/ui/own.ts';
import type { Act, Value } from '../firmware/ui/tree.ts';
import { evaluate, plainText, type Scope } from '../firmware/ui/value.ts';
import { currentLink } from './current.ts';
import { bounds, type Done, type Drawing, type Rows } from './drawing.ts';
import { failed } from './entrance.ts';
import { changes } from './icons.ts';
import { began } from './op.ts';
import { openSkill } from './open.ts';
import { pageOf } from './paged.ts';
import { asked } from './routed.ts';
import { app, follow, type Icon, toast } from './store.ts';
import { context, isAbsent, pathOf, Unsupported, unsupported } from './topic.ts';

export interface Doing {
  act: Drawing['act'];
  page: Rows['page'];
  /** The state with what was set here and nowhere else. */
  over: Own['over'];
}

/** Shows a page of an app. @returns false where it has none of that name */
export type Pages = (act: Extract<Act, { do: 'go' }>, scope: Scope) => boolean;

/** What `openActs` loads with the first act. */
export function openDoing(
  icon: Icon,
  again: Rows['again'],
  state: () => unknown,
  changed: () => void,
  pages?: Pages,
): Doing {
  const own = openOwn();
  const here = (act: Act, scope: Scope): boolean => {
    if (act.do === 'go' && act.page !== undefined && pages) {
      if (!pages(act, scope)) throw unsupported(act.page);
      return true;
    }
    if (act.do === 'set') {
      if (!own.set(act.at, evaluate(act.value, scope), state())) throw unsupported('set');
      changed();
      return true;
    }
    if (act.do !== 'query') return false;
    const heard = again.get(act.query);
    if (!heard?.size) throw unsupported(act.query);
    const params = act.params === undefined ? undefined : evaluate(act.params, scope);
    for (const ask of [...heard]) ask(params);
    return true;
  };
  return {
    over: own.over,
    page: (asked, stop) => pageOf(icon, asked, stop),
    async act(act, given, o) {
      const scope = { ...given, budget: { steps: bounds.steps } };
      try {
        return here(act, scope) ? { done: true } : await does(icon, act, scope, o);
      } catch (e) {
        if (!(e instanceof Unsupported)) failed(e);
        return undone(e);
      }
    },
  };
}

const undone = (e: unknown): Done => {
  const fields = e instanceof IngleError ? e.details?.['fields'] : undefined;
  return fields !== null && typeof fields === 'object' && !Array.isArray(fields)
    ? { done: false, fields: fields as Record<string, unknown> }
    : { done: false };
};

/** The act as a command takes it. */
export function commandOf(icon: Icon, act: Act, scope: Scope) {
  const text = (v: Value) => plainText(evaluate(v, scope));
  const data = (v: Value | undefined) => evaluate(v ?? { object: {} }, scope);
  switch (act.do) {
    case 'get':
      return { type: 'http.get', path: text(act.path) };
    case 'post':
      return { type: 'http.post', path: text(act.path), body: data(act.body) };
    case 'publish':
      return { type: 'bus.publish', topic: act.topic, payload: data(act.payload) };
    case 'action': {
      const given = { ...(data(act.payload) as object), ...(act.form ? (scope.form as object) : {}) };
      const body = { type: 'ui.action', action_id: act.id, payload: given, context: context(icon) };
      return { type: 'http.post', path: pathOf(icon, 'action', act.target), body };
    }
    default:
      return undefined;
  }
}

function go(act: Extract<Act, { do: 'go' }>): void {
  const { skill, href } = act;
  const to = app().icons?.find((i) => i.skill_id === skill);
  if (to) openSkill(to, act.mode, app().link === 'up');
  else if (/^https?:/.test(href ?? '')) window.open(href, '_blank', 'noopener,noreferrer');
  else if (/^mailto:/.test(href ?? '')) location.assign(href!);
  // A skill that is not on this desktop, or a page: a window of one skill has no others.
  else throw unsupported(skill ?? act.page ?? '');
}

/**
 * Does an act: as a command, which waits in the outbox until the hub has done it. A secret is asked for at once, so that
 * neither outbox nor document has it.
 */
async function does(
  icon: Icon,
  act: Act,
  scope: Scope,
  { secret = false, control = '' }: { secret?: boolean; control?: string } = {},
): Promise<Done> {
  if (act.do === 'go') {
    go(act);
    return { done: true };
  }
  const action = commandOf(icon, act, scope);
  if (!action) throw unsupported(String(act.do));
  if (secret && action.type === 'http.post') {
    const link = currentLink();
    if (!link?.up) throw new IngleError('hub_offline', 'A secret does not wait for the hub.');
    await link.request('POST', action.path ?? '', action.body).catch((e) => {
      throw missing(act, e) ?? e;
    });
    return { done: true };
  }
  asked.add(icon.skill_id);
  const box = await changes();
  const { id, done } = await box.enqueue({
    method: 'COMMAND',
    path: control || (action.path ?? action.topic ?? ''),
    body: { skill_id: icon.skill_id, action, ...meanwhileOf(act, scope) },
  });
  if (control) began(control, id, done);
  // Of what the hub refuses the outbox tells; of an action that a skill does not take, we.
  const ended = done.then(
    (): Done => ({ done: true }),
    (e) => undone(missing(act, e) ?? e),
  );
  if (app().link === 'up') box.online();
  const result = await Promise.race([ended, unreached()]);
  if (app().link !== 'up') toast(translator(spaDoingTexts, app().language)('queued'));
  return result ?? { done: true };
}

/** The patch by which an app shows the act until it is done. It stays here, with the act in the outbox. */
function meanwhileOf(act: Act, scope: Scope): { meanwhile?: object[] } {
  if (act.do !== 'action' || !act.meanwhile) return {};
  const step = (v: Value) => plainText(evaluate(v, scope)).replace(/~/g, '~0').replace(/\//g, '~1');
  const meanwhile = act.meanwhile.map(({ op, at, value }) => ({
    op,
    path: `/viewModel/${at.map(step).join('/')}`,
    ...(op === 'remove' ? {} : { value: evaluate(value ?? null, scope) ?? null }),
  }));
  return { meanwhile };
}

/** Tells of an action that its skill has no ear for. */
const missing = (act: Act, e: unknown) =>
  act.do === 'action' && isAbsent(e) ? unsupported(act.id) : undefined;

/** Settles when the hub is not reached: at once, or when it falls silent. */
function unreached(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (app().link === 'up') return;
      stop();
      resolve();
    };
    const stop = follow(look);
    look();
  });
}
