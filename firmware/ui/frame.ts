// A page of the skill itself in a frame (UMF, level 3), checked: it lies below the skill's /v1/ui/. Pure.
import { isPagePath } from '../protocol/skill-page.ts';
import type { Node } from './tree.ts';

const sizeOf = (v: unknown) =>
  typeof v === 'number' && Number.isFinite(v) ? Math.round(Math.max(1, Math.min(4000, v))) : undefined;

/** How high a frame stands until its page says otherwise, CSS pixels. */
export const heightOf = (n: { h?: number }): number => n.h ?? 320;

/** @returns null where the page is no path below /v1/ui/ */
export function frameOf(
  of: { page: unknown; w?: unknown; h?: unknown },
  title: Extract<Node, { is: 'frame' }>['title'],
  instead?: Node,
): Extract<Node, { is: 'frame' }> | null {
  const page = typeof of.page === 'string' ? of.page.replace(/^\/v1\/ui\//, '') : '';
  if (!isPagePath(page)) return null;
  const [w, h] = [sizeOf(of.w), sizeOf(of.h)];
  return {
    is: 'frame',
    page,
    title,
    ...(w ? { w } : {}),
    ...(h ? { h } : {}),
    ...(instead ? { instead } : {}),
  };
}
