// gate: out, 5 s: bundles a page
// The reference of the languages of screens: every part has its words out of the schemas and an example that a hub takes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { languages } from '../../firmware/text/i18n.ts';
import { compile } from '../../firmware/ui/compile.ts';
import { describedParts } from '../../firmware/ui/described.ts';
import { draft } from '../../firmware/ui/draft.ts';
import { nodeTypes1, validateView } from '../../firmware/ui/schema.ts';
import { directives } from '../../firmware/ui/ulm/directives.ts';
import { componentOf } from '../../firmware/ui/usdl/components.ts';
import { components, everywhere } from '../../firmware/ui/usdl/schema.ts';
import { compileV0 } from '../../firmware/ui/v0/compile.ts';
import { speaker } from '../../services/cli/say.ts';
import { examplesIn } from '../../services/cli/ui/examples.ts';
import { writeReference } from '../../services/cli/ui/reference.ts';

type Json = Record<string, unknown>;
const parts = describedParts();

test('every node, component and directive is a part, with words for it and for each of its properties', () => {
  const names = (language: string) => parts.filter((p) => p.language === language).map((p) => p.name);
  assert.equal(names('ui/v0').slice(1), Object.keys(nodeTypes1));
  assert.equal(names('usdl/0.2').slice(1), Object.keys(components));
  for (const name of Object.keys(directives)) assert.ok(names('ulm').includes(`:::${name}`), name);
  assert.is(new Set(parts.map((p) => p.id)).size, parts.length);
  for (const p of parts) {
    assert.ok(p.says, p.id);
    for (const one of p.properties) {
      assert.ok(one.doc, `${p.id} ${one.name} has no description in its schema`);
      assert.is.not(one.type, 'any', `${p.id} ${one.name}`);
    }
  }
});

test('every part has an example in both languages, and a hub takes each without a word', async () => {
  const ids = parts.map((p) => p.id).sort();
  for (const language of languages) {
    const examples = examplesIn(language);
    assert.equal(Object.keys(examples).sort(), ids);
    for (const p of parts) {
      const { source } = examples[p.id]!;
      if (p.language === 'ui/v0') assert.equal(validateView(source), [], p.id);
      const { tree, problems } = await compile(source);
      assert.equal(problems, [], p.id);
      assert.not.match(JSON.stringify(tree), /"is":"note"/, p.id);
      assert.ok(tree.from === p.language || p.language === 'ui/v0', `${p.id} is ${tree.from}`);
    }
  }
});

test('an example shows what it is of', () => {
  const examples = examplesIn('en');
  for (const p of parts) {
    const text = JSON.stringify(examples[p.id]!.source);
    const type = p.language === 'ulm' ? p.name : `"type":"${p.name}"`;
    if (p.name === 'view' || p.name === 'page' || p.name === 'text' || p.name === 'field') continue;
    assert.ok(text.includes(type), `${p.id} has no ${type}`);
    for (const one of p.properties)
      if (one.required && !/[.[]/.test(one.name) && p.language !== 'ulm')
        assert.ok(text.includes(`"${one.name}":`), `${p.id} has no ${one.name}`);
  }
});

/** The names of what a compiler reads of an object. Only USDL asks whether a name is there before it reads it. */
function readOf(given: Json, asks: boolean, run: (o: Json) => void): Set<string> {
  const read = new Set<string>();
  const note = (name: string | symbol) => typeof name === 'string' && read.add(name);
  run(
    new Proxy(given, {
      get(o, name) {
        note(name);
        return Reflect.get(o, name) as unknown;
      },
      getOwnPropertyDescriptor(o, name) {
        if (asks) note(name);
        return Reflect.getOwnPropertyDescriptor(o, name);
      },
    }),
  );
  return read;
}
/** With all of it, without each, and with nothing: what is read only where another is missing is read, too. */
const versions = (o: Json): Json[] => [
  o,
  { type: o['type'] },
  { ...o, input: 'choice' },
  ...Object.keys(o).map((k) => ({ ...o, [k]: undefined, type: o['type'] })),
  ...Object.keys(o).map((k) =>
    Object.fromEntries(Object.entries(o).filter(([n]) => n !== k || n === 'type')),
  ),
];

test('a compiler reads of each part what its reference says, and nothing else', () => {
  const inside = (o: unknown, type: string): Json | undefined => {
    if (o === null || typeof o !== 'object') return undefined;
    if ((o as Json)['type'] === type) return o as Json;
    for (const v of Object.values(o)) {
      const found = inside(v, type);
      if (found) return found;
    }
    return undefined;
  };
  const examples = examplesIn('en');
  for (const p of parts) {
    const kind = { ...nodeTypes1, ...components }[
      p.name as keyof typeof nodeTypes1 & keyof typeof components
    ];
    if (!kind || p.language === 'ulm') continue;
    const { needs, takes } = kind as { needs: readonly string[]; takes: readonly string[] };
    const read = new Set<string>();
    for (const one of versions(inside(examples[p.id]!.source, p.name)!)) {
      const run = (o: Json) => {
        if (p.language === 'ui/v0') compileV0({ schema: 'ui/v0.1', layout: o });
        else
          componentOf(
            {
              ...{ draft: draft(), names: { root: ['state'] }, actions: {}, texts: {}, tools: {} },
              ...{ wants: new Set(), ids: new Set() },
            },
            o,
            '',
          );
      };
      for (const name of readOf(one, p.language !== 'ui/v0', run)) read.add(name);
    }
    for (const name of ['type', ...(p.language === 'ui/v0' ? [] : everywhere)]) read.delete(name);
    assert.equal([...read].sort(), [...needs, ...takes].sort(), p.id);
  }
});

test('an argument that a directive does not take is told, with those that it does', async () => {
  for (const [name, { takes }] of Object.entries(directives)) {
    const args = [...Object.keys(takes), 'colour'].map((k) => `${k}=x`).join(' ');
    const { problems } = await compile({ ulm: `:::${name} ${args}\n:::` });
    assert.equal(
      problems.filter((p) => p.code === 'unknown_argument').map((p) => p.hint),
      [`":::${name}" takes no "colour", but ${Object.keys(takes).join(', ')}.`],
    );
  }
});

test('the page is one file that asks nobody, and no other page is written over', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-reference-'));
  try {
    let said = '';
    const say = speaker({ json: false, env: { INGLE_LANG: 'en' }, out: (t) => (said += t) });
    await writeReference(dir, say, 'en');
    const page = readFileSync(join(dir, 'index.html'), 'utf8');
    assert.is(said, `The reference is in ${join(dir, 'index.html')}.\n`);
    // What the script draws SVG with has the word as well; what it may load is the policy's to say.
    const markup = page.replace(/(<script>)[\s\S]*<\/script>/, '$1</script>');
    assert.ok(markup.length < page.length / 2);
    assert.match(page, /content="default-src 'none'; [^"]*img-src data:;/);
    assert.not.match(markup, /<script[^>]+src=|<link[^>]+href="(?!data:)|@import|(?<!\w)url\((?!["']?data:)/);
    assert.match(page, /script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'"/);
    await writeReference(dir, say, 'ru');
    writeFileSync(join(dir, 'index.html'), '<h1>mine</h1>');
    const refused = await writeReference(dir, say, 'en').catch((e: unknown) => e);
    assert.ok(refused instanceof IngleError && refused.code === 'conflict');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.run();
