// Gzip bytes of all scripts and styles a real Chromium asks for until a skill is live, beside the libraries alone.
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { approve, at, launch, openStatus, phone, press, withoutX25519 } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';
import { budget, gzipOf, portable, readDescription } from '../size.ts';

/** What every such application carries: a renderer, a socket, boxes and documents that merge. */
const libraries = `
  export { h, render, Fragment } from 'preact';
  export { useState, useEffect, useRef } from 'preact/hooks';
  export { default as htm } from 'htm';
  export { io } from 'socket.io-client';
  export { default as nacl } from 'tweetnacl';
  export { Doc, Map, Array, Text, applyUpdate, encodeStateAsUpdate, encodeStateVector } from 'yjs';
  export * as sync from 'y-protocols/sync';
  export * as awareness from 'y-protocols/awareness';`;

async function peerBytes(): Promise<number> {
  const r = await build({
    stdin: { contents: libraries, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
  });
  return gzipSync(r.outputFiles[0]!.contents, { level: 9 }).length;
}

/** Until a skill is live, from a link, in a fresh browser; each file by its size. */
async function untilLive(o: { x25519: boolean; newPasskey?: boolean }): Promise<string[]> {
  const p = await phone(browser);
  if (!o.x25519) await withoutX25519(p.page);
  const loaded = watch(p.page);
  await p.page.goto((await house.issueCode({ newPasskey: o.newPasskey ?? false })).link);
  await press(p.page, 'Make a passkey');
  await approve(p);
  await openStatus(p.page);
  await p.close();
  return [...loaded].sort();
}

/** Gathers the paths of scripts and styles the page and its workers ask for; the service worker's own copies are not loads. */
function watch(page: Page): Set<string> {
  const paths = new Set<string>();
  page.on('request', (r) => {
    const path = new URL(r.url()).pathname.slice(1);
    if (/\.(js|css)$/.test(path)) paths.add(path);
  });
  return paths;
}

const house = await startHouse();
const browser = await launch();
try {
  const d = readDescription();
  const entry = await phone(browser);
  const atEntry = watch(entry.page);
  await entry.page.goto(house.origin);
  await at(entry.page, 'entry');
  await entry.page.waitForLoadState('networkidle');
  const code = gzipOf(d, [...atEntry]);
  await entry.close();

  const loaded = await untilLive({ x25519: true });
  const live = gzipOf(d, loaded);
  for (const path of loaded) console.log(`  ${String(d.files[path]?.gzip ?? 0).padStart(6)} ${path}`);
  const loadedWithout = await untilLive({ x25519: false, newPasskey: true });
  const without = gzipOf(d, loadedWithout);
  const more = loadedWithout.filter((path) => !loaded.includes(path));
  if (!more.some((path) => d.chunks[path]?.modules.some((m) => portable.test(m))))
    throw new Error('the browser without X25519 did not load it');

  const peer = await peerBytes();
  console.log(`code entry ${code} bytes of ${budget.code}, until a live skill ${live} of ${budget.live}`);
  console.log(`without X25519 in WebCrypto ${without} of ${budget.live}: ${more.join(', ')} besides`);
  console.log(`FIGURE bundle code entry ${code} bytes`);
  console.log(`FIGURE bundle live skill ${live} bytes`);
  console.log(
    JSON.stringify({
      bench: 'bundle',
      ours: live,
      peer,
      unit: 'bytes',
      ratio: Number((live / peer).toFixed(3)),
      code_entry: code,
      code_entry_budget: budget.code,
      live_budget: budget.live,
      live_without_x25519: without,
      build: d.hash,
    }),
  );
} finally {
  await browser.close();
  await house.stop();
}
