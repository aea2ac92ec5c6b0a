// Opening a skill: the state of its window, and what stands there until its screen comes.
import { html } from 'htm/preact';
import { failed } from './entrance.ts';
import { app, type Icon, type Managing, type Open, set, toast } from './store.ts';
import { t, titleOf } from './text.ts';

/** What windows of the owner's pages are called, beside those of skills. */
export const pageNames: Record<Managing, string> = {
  ...{ manage: '@skills', people: '@people', hubs: '@hubs', settings: '@settings', notices: '@notices' },
  ...{ scenarios: '@scenarios', account: '@account' },
};

/** Whether an icon is of a scenario app, which has an address of its own and opens without the hub. */
export const isApp = (icon: Icon): boolean => icon.entrypoint.startsWith('/s/');

/** Goes to an address, and draws what is there. */
export function goTo(path: string): void {
  history.pushState(null, '', path);
  set({ open: null, managing: null });
}

/** Opens a window where the hub can be reached or its screen is kept here, else says why not. */
export function openSkill(icon: Icon, mode?: Open['mode'], online = true, preview?: string): void {
  if (isApp(icon)) goTo(icon.entrypoint);
  else if (online) open(icon, mode, preview);
  else
    import('./kept.ts').then(async (m) => {
      if (await m.screenOf(icon.skill_id)) open(icon, mode);
      else m.blocked(titleOf(icon));
    }, failed);
}

function open(icon: Icon, mode: Open['mode'] | undefined, preview?: string): void {
  const open: Open = {
    skill_id: icon.skill_id,
    mode: mode ?? icon.modes[0] ?? 'modal',
    ...(preview ? { preview } : {}),
  };
  // One step back closes a window, also one that another has led to.
  const { open: before, managing } = app();
  history[before || managing ? 'replaceState' : 'pushState']({ window: open.skill_id }, '', '/');
  set({ open, managing: null });
}

/** Opens the window whose link was followed, once it is known which skills there are. */
export function openLinked(icons: readonly Icon[]): void {
  const { linked } = app();
  if (!linked) return;
  set({ linked: null });
  const [id, token] = linked.split('.');
  const icon = icons.find((i) => i.skill_id === id);
  if (icon) openSkill(icon, undefined, true, token && linked);
  else if (token) toast(t('preview_over'));
}

/** Opens a page; each also stands without a hub. One step back closes it, also where another has led to it. */
export function openManager(managing: Managing): void {
  const { open, managing: before } = app();
  history[open || before ? 'replaceState' : 'pushState']({ window: pageNames[managing] }, '');
  set({ open: null, managing });
}

/** Stands where a screen will be. */
export function Bones({ title }: { title: string }) {
  return html`<div class="v-stack" aria-busy="true">
    <span class="sr" role="status">${t('opening_skill', { title })}</span>
    <div class="v-row"><div class="bone v-card"></div><div class="bone v-card"></div></div>
    <div class="bone"></div><div class="bone"></div>
  </div>`;
}
