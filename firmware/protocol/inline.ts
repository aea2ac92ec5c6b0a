// What a page's policy says of scripts that stand in the page itself.
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from './bytes.ts';

/** How a content policy names a script or style by its text (CSP 3, section 2.3.1). */
export const hashSource = (text: string): string =>
  `'sha256-${btoa(String.fromCharCode(...sha256(utf8(text))))}'`;

/** Sources for the scripts that stand in a page. */
export const inlineScripts = (html: string): string[] =>
  [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => hashSource(text!));
