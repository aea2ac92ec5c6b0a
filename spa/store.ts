// The one state of the application, and how a component follows it.

import { useLayoutEffect, useState } from 'preact/hooks';
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import { type ErrorCode, IngleError } from '../firmware/protocol/errors.ts';
import type { Role } from '../firmware/protocol/roles.ts';
import type { skillsApi } from '../firmware/skills/api.ts';
import { type Brand, noBrand } from '../firmware/text/brand.ts';
import type { Suspicion } from '../firmware/text/channel.ts';
import type { Language, Localized } from '../firmware/text/i18n.ts';
import type { SpaText } from '../firmware/text/spa.ts';
import type { Layout } from '../firmware/ui/arranged.ts';
import type { Glance } from '../firmware/ui/glance.ts';
import type { Told } from '../firmware/ui/topic-names.ts';

/** What stands above a page's button: a text of ours, or an error's. */
export type Notice =
  | { text: SpaText; command?: string }
  | { words: Localized }
  | { error: ErrorCode; message?: string };

/** Something of this browser or device that does not work, in words of ours. */
export class Trouble extends Error {
  readonly notice: Notice;
  constructor(notice: Notice) {
    super('trouble');
    this.notice = notice;
  }
}

/** `work`, or an error when it takes longer. @throws IngleError `timeout` */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new IngleError('timeout', 'No answer.')), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A pairing link that was opened where a hub is known already. */
export interface LinkQuestion {
  /** For the hub this browser is signed in to; for another; good no more; not whole. */
  is: 'same' | 'other' | 'spent' | 'bad';
  notice?: Notice;
}

export type Page =
  | { at: 'boot' }
  | { at: 'entry'; notice?: Notice; busy?: SpaText }
  | { at: 'second'; notice?: Notice; title?: 'code_wrong_title'; busy?: SpaText }
  | { at: 'register'; notice?: Notice; busy?: SpaText }
  | { at: 'login'; notice?: Notice; busy?: SpaText; out?: boolean }
  | { at: 'nopasskey'; notice?: Notice; busy?: SpaText }
  | { at: 'connecting'; step: 'hub' | 'prove' | 'open' }
  | { at: 'approve'; notice?: Notice; busy?: SpaText }
  | { at: 'refused'; notice: Notice | 'no_answer' }
  /** The hub says that this person's time is over. */
  | { at: 'ended' }
  /** The hub says that the invitation is for somebody else. */
  | { at: 'taken' }
  /** Somebody says that the hub does not know this browser. */
  | { at: 'unknown' }
  | { at: 'alarm'; reason: Suspicion }
  | ({ at: 'link'; busy?: SpaText } & LinkQuestion)
  | { at: 'trouble'; notice: Notice }
  | { at: 'elsewhere' }
  | { at: 'desktop' };

/** An icon as the hub tells it, or as an older version left it in this browser. */
export type Icon = Omit<Wire, 'schema' | 'ownerOnly' | 'sizeHints' | 'available' | 'group'> &
  Partial<Pick<Wire, 'ownerOnly' | 'sizeHints' | 'available' | 'group'>>;
type Wire = Answer<typeof skillsApi.icons>[number];

/** A page beside skills' screens: the owner's, settings, what skills have told, and scenarios. */
export type Managing = 'manage' | 'people' | 'hubs' | 'account' | 'settings' | 'notices' | 'scenarios';

export interface Open {
  skill_id: string;
  mode: 'modal' | 'panel';
  /** Token of a preview. */
  preview?: string;
}

/**
 * How the hub is reached. `up`: it answers and lets streams pass. `cut`: this browser says it has no network. `down`:
 * root does not answer. `offline`: root says the hub is not connected. `silent`: root answers and the hub does not.
 * `unserved`: the hub answers, and what serves its skills does not.
 */
export type LinkState = 'up' | 'connecting' | 'cut' | 'down' | 'offline' | 'silent' | 'unserved';

/** The layout of the desktop, and whether a tap opens a panel. */
export type Look = Layout & { panel?: boolean };

export interface Toast {
  text: string;
  /** What a button beside it does. */
  way?: { text: string; act(): void } | undefined;
}

export interface App {
  language: Language;
  page: Page;
  link: LinkState;
  /** Straight to the hub, and not through root. */
  direct: boolean;
  /** Round trip to the hub itself, milliseconds; null while it has not answered. */
  lag: number | null;
  /** When the hub last answered, milliseconds. */
  heardAt: number | null;
  hubName: string | null;
  /** The maker's, once a hub has told it. */
  brand: Brand;
  /** This browser has a hub pinned. */
  paired: boolean;
  /** The pairing is, or was, by the hub's insecure debug mode. */
  insecure: boolean;
  icons: Icon[] | null;
  /** When `icons` were last seen live, milliseconds. */
  iconsAt: number | null;
  /** How the desktop looks; null until a hub has told it. */
  look: Look | null;
  /** What tiles tell, by skill. */
  glances: Readonly<Record<string, Glance>>;
  /** What skills have told this person, as the hub keeps it, and up to when it was read, milliseconds. */
  said: readonly Told[];
  readTo: number;
  /** The icons before the last change that was made here. */
  before: Icon[] | null;
  /** The group of icons that is open. */
  group: string | null;
  open: Open | null;
  /** A page that is open. */
  managing: Managing | null;
  /** The skill, or token of a preview, whose link was opened, until its window opens. */
  linked: string | null;
  /** What the person at this browser is to the hub; null until it has said so. */
  role: Role | null;
  /** Whose documents this browser's are; null until the hub has said so. */
  mine: string | null;
  /** Changes that wait for the hub. */
  pending: number;
  toast: Toast | null;
  /** A newer build waits. */
  update: boolean;
}

/** What is known of a desktop before its hub is. */
export const noDesktop: Pick<
  App,
  'icons' | 'iconsAt' | 'look' | 'before' | 'group' | 'role' | 'mine' | 'glances' | 'said' | 'readTo'
> = {
  ...{ glances: {}, said: [], readTo: 0 },
  ...{ icons: null, iconsAt: null, look: null, before: null, group: null, role: null, mine: null },
};

let state: App = {
  language: 'en',
  page: { at: 'boot' },
  link: 'connecting',
  direct: false,
  lag: null,
  heardAt: null,
  hubName: null,
  brand: noBrand,
  paired: false,
  insecure: false,
  ...noDesktop,
  open: null,
  managing: null,
  linked: null,
  pending: 0,
  toast: null,
  update: false,
};
const followers = new Set<() => void>();

export function app(): App {
  return state;
}

export function set(patch: Partial<App>): void {
  state = { ...state, ...patch };
  for (const f of [...followers]) f();
}

export function show(page: Page): void {
  set({ page });
}

/** Calls `f` after each change, until the function it gives back is called. */
export function follow(f: () => void): () => void {
  followers.add(f);
  return () => followers.delete(f);
}

/** The state in a component, drawn anew when it changes. */
export function useApp(): App {
  const [, draw] = useState(state);
  // At once, not after the next paint: what changes until then would never be drawn.
  useLayoutEffect(() => {
    const stop = follow(() => draw(state));
    draw(state);
    return stop;
  }, []);
  return state;
}

let hideToast: ReturnType<typeof setTimeout> | undefined;
/** A short word at the foot of the page; screen readers say it. What a way does must have another place, too. */
export function toast(text: string, way?: Toast['way']): void {
  clearTimeout(hideToast);
  set({ toast: { text, way } });
  hideToast = setTimeout(() => set({ toast: null }), way ? 8000 : 5000);
}
