// Line icons on a 24 px grid; an icon record names one of them as its `icon` key.
import { html } from 'htm/preact';

const paths = {
  gauge: 'M4.5 18a9 9 0 1 1 15 0M12 14l4-5M12 14a.5.5 0 1 0 .1.1',
  pulse: 'M3 12h4l2.5-7 5 14 2.5-7h4',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  key: 'M14.5 9.5a4 4 0 1 0-3.8 4M12 13l8 8M17 18l2-2',
  finger:
    'M7 11a5 5 0 0 1 10 0v3M12 11v4a6 6 0 0 1-1.5 4M7 15c0 1.5-.3 2.5-1 3.5M17 17.5c-.2 1-.5 1.8-1 2.5M4 12a8 8 0 0 1 3-6.2M20 13v-1a8 8 0 0 0-9.5-7.9',
  alarm: 'M12 3 2.5 20h19L12 3zM12 10v4.5M12 17.3v.2',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5.5M12 7.7v.2',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6 6 18',
  dots: 'M5 12h.01M12 12h.01M19 12h.01',
  menu: 'M4 7h16M4 12h16M4 17h16',
  pin: 'M9 3h6l-1 7 3.5 3.5h-11L10 10 9 3zM12 13.5V21',
  left: 'M15 5l-7 7 7 7',
  right: 'm9 5 7 7-7 7',
  panel: 'M4 5h16v14H4zM14.5 5v14',
  out: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  tabs: 'M8 8h12v12H8zM4 16V4h12',
  hub: 'M4 20V11a8 8 0 0 1 16 0v9M2.5 20h19M12 11c.7 2.4 3 3.4 3 6a3 3 0 0 1-6 0c0-1.2.6-2 1.3-2.7.1.8.4 1.2 1 1.4-.3-1.8 0-3.3.7-4.7z',
  offline: 'M4 4l16 16M8.5 15.5a5 5 0 0 1 6-.8M5 12a10 10 0 0 1 4-2.4M12.5 9a10 10 0 0 1 6.5 3M12 19h.01',
  weather: 'M7 18a4 4 0 0 1 .5-8 5 5 0 0 1 9.5 1.5A3.3 3.3 0 0 1 17 18H7z',
  logs: 'M6 4h12v16H6zM9 8.5h6M9 12h6M9 15.5h4',
  gear: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1',
  play: 'M7 4.5v15l12-7.5L7 4.5z',
  refresh: 'M20 11a8 8 0 0 0-14.5-3.5L4 9.5M4 4v5.5h5.5M4 13a8 8 0 0 0 14.5 3.5l1.5-2M20 20v-5.5h-5.5',
  people:
    'M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM3 20c0-3.5 2.5-6 6-6s6 2.5 6 6M16 5.5a3 3 0 0 1 0 5.5M17.5 14.5c2.2.8 3.5 2.8 3.5 5.5',
  phone: 'M8 3h8v18H8zM11 17.5h2',
  grip: 'M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20 20',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15L6 16.5zM10 20.5h4',
  app: 'M5 5h5.5v5.5H5zM13.5 5H19v5.5h-5.5zM5 13.5h5.5V19H5zM13.5 13.5H19V19h-5.5z',
} as const;
export type Glyph = keyof typeof paths;

/** Keys of the icon set that skills use, beside the names above. */
const also: Record<string, Glyph> = {
  status: 'pulse',
  hub_status: 'pulse',
  activity: 'pulse',
  settings: 'gear',
  desktop: 'app',
  log: 'logs',
  list: 'logs',
  cloud: 'weather',
  sun: 'weather',
};

export function glyph(name: Glyph) {
  return html`<svg class="i" viewBox="0 0 24 24" aria-hidden="true"><path d=${paths[name]} /></svg>`;
}

/** The face of a skill: a key of the icon set or a `data:` SVG, which is drawn as an image and so runs nothing. */
export function face(icon: string) {
  const data = icon.startsWith('data:svg') ? `data:image/svg+xml${icon.slice(8)}` : icon;
  if (data.startsWith('data:image/svg+xml')) return html`<img src=${data} alt="" width="36" height="36" />`;
  if (Object.hasOwn(paths, icon)) return glyph(icon as Glyph);
  return glyph(Object.hasOwn(also, icon) ? also[icon]! : 'app');
}
