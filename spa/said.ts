// What skills tell the person (`ui.toast`, `ui.notify`): each line is shown once on this browser. A toast is for who
// looks now; a notice waits for the next look. The name of the skill stands before it, so that none speaks as the hub.
import { inLanguage, translator } from '../firmware/text/i18n.ts';
import { spaSaidTexts } from '../firmware/text/spa-said.ts';
import type { Told } from '../firmware/ui/topic-names.ts';
import { read, write } from './database.ts';
import { isApp, openLinked, openManager, openSkill } from './open.ts';
import { asked, routed } from './routed.ts';
import { app, follow, toast } from './store.ts';
import { t, titleOf } from './text.ts';

/** A line that fills a phone says less than its beginning. */
const LONG = 200;

/** Ids of the lines that were there at the last look. */
let seen: { hub: string; ids: Set<string> } | undefined;
let waiting: Told[] = [];
let last: Promise<unknown> = Promise.resolve();
follow(next);

const words = (of: unknown) =>
  (typeof of === 'string' ? of : (inLanguage({ i18n: of }, app().language) ?? '')).slice(0, LONG);

function show({ skill_id, topic, payload }: Told): void {
  const icon = app().icons?.find((i) => i.skill_id === skill_id);
  const said = ['title', 'body', 'text'].map((k) => words(payload[k])).filter(Boolean);
  const open = translator(spaSaidTexts, app().language)('open');
  // Nobody is taken away from elsewhere: the way to the app is offered.
  if (icon && isApp(icon) && topic === 'ui.route')
    toast(titleOf(icon), { text: open, act: () => openSkill(icon) });
  if ((!icon && skill_id !== 'scenario') || said.length === 0 || topic === 'ui.route') return;
  const isThere = topic === 'ui.toast' || app().open?.skill_id === skill_id;
  const way = { text: open, act: () => (icon ? openSkill(icon) : openManager('scenarios')) };
  toast(`${icon ? titleOf(icon) : t('scenarios')}: ${said.join('. ')}`, isThere ? undefined : way);
}

function next(): void {
  while (!app().toast && waiting.length > 0) show(waiting.shift()!);
}

/**
 * Of what was told before the first look, a place is shown no more, unless it is the newest of a skill that somebody has
 * pressed a button of, here: a page can be faster than the desktop's documents.
 */
const isAnswer = ({ id, skill_id }: Told, lines: readonly Told[]): boolean =>
  asked.has(skill_id) && lines.findLast((l) => l.topic === 'ui.route' && l.skill_id === skill_id)?.id === id;

async function take(lines: readonly Told[], hub: string, isFirst: boolean): Promise<void> {
  const name = `said:${hub}`;
  if (seen?.hub !== hub) {
    const kept = await read('prefs', name).catch(() => undefined);
    // A browser that has just come has no part in what was told before.
    const earlier = isFirst ? lines.filter((l) => !isAnswer(l, lines)).map((l) => l.id) : [];
    const known = Array.isArray(kept) ? (kept as string[]) : earlier;
    seen = { hub, ids: new Set(known) };
  }
  const before = seen.ids;
  const isOver = (l: Told) => isFirst && l.topic !== 'ui.notify' && !isAnswer(l, lines);
  const fresh = lines.filter(
    (l) => !before.has(l.id) && !isOver(l) && !(l.topic === 'ui.route' && routed(l)),
  );
  seen.ids = new Set(lines.map((l) => l.id));
  // What is shown again after a failure of storage is the lesser evil.
  await write('prefs', name, [...seen.ids]).catch(() => {});
  // What its skill has replaced, or too many others have, is told no more.
  waiting = [...waiting, ...fresh].filter((l) => seen?.ids.has(l.id));
  next();
}

/**
 * Takes the lines as the document of the desktop has them now.
 * @param isFirst nobody has looked at this hub's desktop just before
 */
export function heard(lines: readonly Told[], hub: string, isFirst: boolean): Promise<unknown> {
  // What a browser may show while nobody looks is put right where it has changed.
  if (isFirst && globalThis.Notification?.permission === 'granted')
    import('./push.ts')
      .then((m) => {
        m.heedTaps(openLinked);
        return m.keep();
      })
      .catch(() => {});
  last = last.then(() => take(lines, hub, isFirst));
  return last;
}
