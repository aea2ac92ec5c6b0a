// The faces of scenarios: icons that only they have, beside those of the application.
import { html } from 'htm/preact';
import { face } from './glyphs.ts';

const paths: Record<string, string> = {
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  heart: 'M12 20C5 15 3 11.5 3 8.5A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 9 1.5c0 3-2 6.5-9 11.5z',
  door: 'M6 21V4h9v17M4 21h16M15 7h3v14M12 12.5v.2',
  speaker: 'M4 9.5v5h3.5L12 19V5L7.5 9.5H4zM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  light: 'M9 17h6M10 20h4M8.5 14a5.5 5.5 0 1 1 7 0c-.6.6-1 1.3-1 3h-5c0-1.7-.4-2.4-1-3z',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15L6 16.5zM10 20.5h4',
};

export const faceOf = (icon: string | undefined) =>
  html`<span class="face" aria-hidden="true">${
    icon !== undefined && Object.hasOwn(paths, icon)
      ? html`<svg class="i" viewBox="0 0 24 24"><path d=${paths[icon]} /></svg>`
      : face(icon ?? 'play')
  }</span>`;
