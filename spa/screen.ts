// A skill's screen as its documents make it: the view, once its signature is checked, and the state under it; or what
// was kept of both on an earlier visit.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { IngleError } from '../firmware/protocol/errors.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { overlayState } from '../firmware/ui/overlay.ts';
import { TREE_VERSION, type Tree } from '../firmware/ui/tree.ts';
import { openActs } from './acts.ts';
import { currentLink } from './current.ts';
import type { Kept } from './kept.ts';
import type { Link } from './link.ts';
import type { Icon } from './store.ts';
import { joinRoom, type Room } from './sync.ts';

/** What the hub says on opening: the documents that make the screen of this person on this browser. */
export type OpenAnswer = Answer<typeof skillsApi.open>;

/** A screen is kept at most so often, milliseconds. */
const KEEP_MS = 5000;

/** Keeps what a skill's screen shows, now and then; of a burst the last, as that is what was seen last. */
function openKeeper(skill_id: string) {
  let newest: Kept | undefined;
  let keptAt = 0;
  let due: ReturnType<typeof setTimeout> | undefined;
  const now = () => {
    const kept = newest;
    due = undefined;
    keptAt = Date.now();
    if (kept) import('./kept.ts').then((m) => m.keepScreen(skill_id, kept)).catch(() => {});
  };
  return {
    keep(kept: Kept): void {
      newest = kept;
      due ??= setTimeout(now, Math.max(0, keptAt + KEEP_MS - Date.now()));
    },
    close(): void {
      if (!due) return;
      clearTimeout(due);
      now();
    },
  };
}

/** @param drawn is told when there is something else to draw */
export function openScreen(icon: Icon, drawn: () => void) {
  /** That of the view, then those of the state, each over the one before. */
  let rooms: Room[] = [];
  let signed: Promise<ReturnType<typeof import('./signed.ts').signatures>>;
  let isPublic = false;
  let stored: unknown = {};
  /** The view that was read last, as text. */
  let raw = '';
  const keeper = openKeeper(icon.skill_id);
  let queued = false;

  // Updates come in bursts; a frame's worth of them is one drawing.
  const changed = () => {
    if (queued) return;
    queued = true;
    setTimeout(() => {
      queued = false;
      read();
      drawn();
    }, 30);
  };
  const read = () => {
    const [view, ...states] = rooms;
    if (!view) return;
    const content = view.content();
    const tree = content['tree'] ?? (content['layout'] === undefined ? undefined : unknownTree('ui/v0'));
    if (tree !== undefined) {
      const text = JSON.stringify(content);
      if (text !== raw) {
        raw = text;
        void check(text, content, tree as Tree);
      }
    }
    const isLive = screen.isLive();
    // What was kept stays whole until the hub has told all of what is there now.
    if (screen.isKept && !isLive) return;
    stored = states.reduce<unknown>((s, r) => overlayState(s, r.content()), screen.tree?.state ?? {});
    screen.state = screen.acts.over(stored);
    if (!isLive) return;
    screen.at = Date.now();
    keep();
  };
  /** A screen that needs no passkey can be read while the hub is away. */
  const keep = () => {
    const { tree, at } = screen;
    if (tree && !screen.isForged && isPublic) keeper.keep({ tree, state: stored, at });
  };
  /** Shows a view once the hub's signature on it and its tree is checked; the hub has compiled the one to the other. */
  const check = async (text: string, content: Record<string, unknown>, tree: Tree) => {
    const ok = await signed.then((c) => c(content)).catch(() => null);
    if (raw !== text) return;
    if (!ok)
      // On its way, or the hub is not reached: what is shown stays until that is known. What is wrong may be put right.
      setTimeout(
        () => {
          if (raw === text) raw = '';
          changed();
        },
        ok === null ? 300 : 3000,
      );
    if (ok === null) return;
    // What this application does not know yet is drawn as a note.
    if (ok) Object.assign(screen, { tree: known(tree), isKept: false });
    screen.isForged = !ok;
    // A tree may bring the first state.
    changed();
  };

  const screen = {
    /** Null until there is something to draw. */
    tree: null as Tree | null,
    state: {} as unknown,
    /** When it was last true, milliseconds. */
    at: 0,
    isForged: false,
    /** What is shown was kept here, and nothing has come from the hub yet. */
    isKept: false,
    acts: openActs(icon, () => stored, changed),
    /** All its documents are joined. */
    isLive: () => rooms.length > 0 && rooms.every((r) => r.live),
    /**
     * Joins its documents, once.
     * @param mayKeep it needs no passkey, and so may be kept here
     */
    join(link: Link, keys: OpenAnswer, mayKeep: boolean, refused: (e: IngleError) => void): void {
      if (rooms.length > 0) return;
      isPublic = mayKeep;
      rooms = [keys.view, keys.state, keys.own, keys.prefs].flatMap((key) =>
        key ? [joinRoom(key, currentLink, changed, refused)] : [],
      );
      signed = import('./signed.ts').then((m) => m.signatures(link, keys.view));
      signed.catch(() => {});
    },
    /** Shows what an earlier visit kept, where nothing has come meanwhile. */
    recall(): void {
      import('./kept.ts')
        .then((m) => m.screenOf(icon.skill_id))
        .then((kept) => {
          if (!kept || screen.tree) return;
          Object.assign(screen, { ...kept, tree: known(kept.tree), isKept: true });
          drawn();
        })
        .catch(() => {});
    },
    close(): void {
      keeper.close();
      for (const r of rooms) r.close();
      rooms = [];
    },
  };
  return screen;
}

/** What stands in place of a tree that cannot be drawn here. */
const unknownTree = (what: string): Tree =>
  ({ tree: TREE_VERSION, from: what, main: [{ is: what }], needs: [] }) as unknown as Tree;
const known = (tree: Tree): Tree =>
  tree.tree === TREE_VERSION && Array.isArray(tree.main) ? tree : unknownTree(`tree ${tree.tree}`);
