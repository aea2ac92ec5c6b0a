// A link as a picture for a camera.
import { html } from 'htm/preact';
import { encode } from 'uqr';

const local = /^(localhost|.*\.localhost|127\..*|\[::1\])$/;

/** An address that no other device has gets none. */
export function Picture({ link, label }: { link: string; label: string }) {
  if (local.test(new URL(link).hostname)) return null;
  const { data, size } = encode(link, { ecc: 'L', border: 2 });
  const path = data
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width=${size} height=${size} fill="#fff" /><path d=${path} fill="#000" /></svg>`;
}
