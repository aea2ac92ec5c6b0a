// The `status` event: what a browser hears of its route, and how long the ways are.
import type { RouteStatus } from '../firmware/protocol/wire.ts';
import type { HubLine, Link } from './links.ts';

/** How a browser's route is now. */
export function statusOf(link: Link): RouteStatus {
  const lag =
    link.lag === null || link.hub.lag === null ? null : Math.round((link.lag + link.hub.lag) * 10) / 10;
  return {
    route: link.bound ? 'bound' : link.routed ? 'waiting' : 'none',
    hub_online: link.hub.online,
    lag_ms: link.hub.online ? lag : null,
    generation: link.generation,
    ...(link.bound && link.sealed ? { sealed_secret: link.sealed } : {}),
  };
}

/** Tells a browser how things are; its acknowledgement measures the way to it. */
export function tell(link: Link): void {
  const to = link.browser;
  if (!to) return;
  if (link.asked) {
    to.emit('status', statusOf(link));
    return;
  }
  link.asked = true;
  const began = performance.now();
  to.emit('status', statusOf(link), () => {
    link.asked = false;
    const first = link.lag === null;
    link.lag = since(began);
    if (first && link.browser === to) to.emit('status', statusOf(link));
  });
}

/** Measures the way to a hub; the first measure is told at once, later ones with the beat. */
export function measure(hub: HubLine): void {
  const to = hub.socket;
  if (!to || hub.asked) return;
  let browsers = 0;
  for (const link of hub.links) if (link.browser) browsers++;
  if (browsers === 0) return;
  hub.asked = true;
  const began = performance.now();
  to.emit('status', { browsers }, () => {
    if (hub.socket !== to) return;
    hub.asked = false;
    const first = hub.lag === null;
    hub.lag = since(began);
    if (first) for (const link of hub.links) link.browser?.emit('status', statusOf(link));
  });
}

/** Milliseconds since `began`, to a tenth. */
function since(began: number): number {
  return Math.round((performance.now() - began) * 10) / 10;
}
