// Packages of skills on a flashed hub: orders to its local API as its owner gives them, and skills to install.
import * as assert from 'uvu/assert';
import { CAPS } from '../../../firmware/skills/limits.ts';
import { packSkill } from '../../../firmware/skills/package.ts';
import { file, manifest, signerOfSeed } from '../../skills/archive.ts';
import type { Vm } from './lab.ts';

/** Whom the hub's owner trusts. */
export const acme = signerOfSeed(1);

/** Starting a skill is a process of Node on an emulated machine. */
export const slow = { timeoutMs: 240_000 };

/** Counts each call for good, and says which version it is. */
export const counting = (version: string) => `
export const skill = { start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/add', async answer() {
    const n = (ctx.storage.get('n') ?? 0) + 1;
    await ctx.storage.set('n', n);
    return { body: { version: '${version}', n } };
  } },
] }) };`;

/** What the manifest of one asks for; the others have what the unit of their slot says. */
export const limitsOf = (id: string): { memory_mib: number; cpu_percent: number } =>
  id === 'lamp' ? { memory_mib: 96, cpu_percent: 45 } : CAPS;

export const packed = (id: string, version: string, code: string): Uint8Array => {
  const limits = limitsOf(id);
  const said = { ...manifest(id, version), ...(limits === CAPS ? {} : { limits }) };
  return packSkill([file('manifest.json', JSON.stringify(said)), file('skill.js', code)], acme).bytes;
};

export interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what the hub says is checked field by field
  body: any;
}

/** Asks the hub's local API as local control. */
export async function ask(
  vm: Vm,
  method: string,
  path: string,
  body?: object | Uint8Array,
): Promise<Answered> {
  const token = '-H "x-service-token: $(cat /var/lib/ingle/api/token)"';
  const type = body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
  if (body) await vm.put('/run/lab-body', body instanceof Uint8Array ? body : JSON.stringify(body));
  const sent = body ? `-H "content-type: ${type}" --data-binary @/run/lab-body` : '';
  const said = await vm.must(
    `curl -sS -m 200 -w '\\n%{http_code}' -X ${method} ${token} ${sent} http://127.0.0.1:8777${path}`,
    slow,
  );
  const [text = '', status = ''] = said.split(/\n(?=\d+$)/);
  return { status: Number(status), body: text === '' ? null : JSON.parse(text) };
}

export function good(a: Answered): Answered['body'] {
  assert.is(a.status, 200, JSON.stringify(a.body));
  return a.body;
}

/** What the list says of a skill; undefined where it is not. */
export const listed = async (vm: Vm, id: string) =>
  good(await ask(vm, 'GET', '/api/skills')).skills.find((s: { skill_id: string }) => s.skill_id === id);

/** Waits until the hub is at rest with a version of a skill, or with none (null). */
export async function settled(vm: Vm, id: string, version: string | null): Promise<Answered['body']> {
  let last: Answered['body'];
  for (const end = Date.now() + slow.timeoutMs; Date.now() < end; ) {
    last = await listed(vm, id).catch((e) => e.message);
    if (version === null ? last === undefined : last?.state === 'active' && last.version === version)
      return last;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error(`${id} is not at ${version}: ${JSON.stringify(last)}`);
}
