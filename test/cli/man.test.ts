// The manual page, as the build writes it and as two formatters read it.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { rollup } from 'rollup';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorTable } from '../../firmware/protocol/errors.ts';
import { commands } from '../../services/cli/args.ts';
import { manual, roff, variables } from '../../services/cli/man.ts';
import { reference } from '../../services/cli/reference.ts';

const { schemas } = await import('../../services/cli/rollup.schemas.js' as string);
const { sourcesOf, treeOf } = await import('../imports.mjs' as string);
const test = suite('manual page');

const pages: Record<string, string> = {};
test.before(async () => {
  const define = { INGLE_VERSION: '"1.2.3-rc.1"' };
  const bundle = await rollup(schemas('services/cli/pages.ts', 'dist/man', { define, onwarn() {} }));
  const { output } = await bundle.generate({ format: 'es', entryFileNames: 'schemas.js' });
  for (const file of output) if (file.type === 'asset') pages[file.fileName] = String(file.source);
});

function run(program: string, args: string[], input: string): string {
  const r = spawnSync(program, args, {
    input,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
  });
  assert.is(r.stderr, '', `${program}: ${r.stderr}`);
  assert.is(r.status, 0, `${program}: ${r.stdout}`);
  return r.stdout;
}
/** As a person sees it, in one very long line. */
const groff = (page: string) =>
  run('groff', ['-K', 'utf8', '-ww', '-man', '-Tutf8', '-P-cbou', '-rLL=2000n', '-rHY=0'], page);
// biome-ignore lint/suspicious/noControlCharactersInRegex: bold is a letter printed twice
const mandoc = (page: string) => run('mandoc', ['-Tutf8', '-O', 'width=1000'], page).replace(/.\x08/g, '');
const flat = (text: string) => text.replace(/[\s\u00a0]+/g, ' ');

test('the build writes a page in each language, with its version', () => {
  assert.equal(Object.keys(pages).sort(), ['ingle.1', 'ru/ingle.1']);
  for (const page of Object.values(pages)) assert.match(groff(page), 'Ingle 1.2.3-rc.1');
});

test('no formatter warns, and both show every command, option, exit status and variable', () => {
  for (const [name, page] of Object.entries(pages)) {
    // A date would change a page that has not changed.
    const said = spawnSync('mandoc', ['-Tlint', '-Wwarning'], { input: page, encoding: 'utf8' });
    const faults = said.stdout.split('\n').filter((l) => l && !/missing date, using ""/.test(l));
    assert.equal(faults, [], name);
    for (const text of [groff(page), mandoc(page)].map(flat)) {
      for (const [words, shape] of Object.entries(commands) as [
        string,
        { flags?: string[]; values?: string[] },
      ][])
        for (const word of [
          `ingle ${words}`,
          ...[...(shape.flags ?? []), ...(shape.values ?? [])].map((o) => `--${o}`),
        ])
          assert.ok(text.includes(word), `${word} in ${name}`);
      for (const [code, { exit }] of Object.entries(errorTable)) {
        assert.ok(text.includes(code), `${code} in ${name}`);
        assert.match(text, new RegExp(` ${exit} `));
      }
      assert.ok(
        text.includes('--restart now | night'),
        'what the help of a command has in its first line only',
      );
      for (const list of Object.keys(variables)) assert.ok(text.includes(list), list);
    }
  }
});

test('the variables it names are read', () => {
  const all = [...(sourcesOf(treeOf()) as Map<string, string>)].filter(
    ([f]) => /^(services\/cli|firmware)\//.test(f) && !f.endsWith('/man.ts'),
  );
  for (const name of Object.keys(variables).flatMap((list) => list.split(', ')))
    assert.ok(
      all.some(([, text]) => text.includes(`env['${name}']`)),
      name,
    );
});

test('any text comes out as it went in, and none is a request or an escape', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          '.',
          "'",
          '\\',
          '-',
          '--x',
          '\\fB',
          '\\n(.g',
          '.so /etc/passwd',
          '.\\"',
          '"',
          '`',
          '^',
          '~',
          '\n',
          '%',
          '\\&',
        ),
      ),
      { minLength: 1, maxLength: 6 },
    )
    .map((parts) => parts.join(' '));
  fc.assert(
    fc.property(fc.array(text, { minLength: 40, maxLength: 60 }), (texts) => {
      const shown = texts.map((t) => flat(t).trim());
      // A bare hyphen is another character where no distribution has mended it, and cannot be copied as an option.
      for (const t of texts) assert.not.match(roff(t), /(?<!\\)-/);
      const page = `.TH X 1 "" ""\n.SH S\n${texts.map((t, i) => `.TP\n\\fBN${i}\\fR\n${roff(t) || '\\&'}`).join('\n')}\n`;
      const out = flat(groff(page));
      assert.ok(out.includes(flat(shown.map((t, i) => `N${i} ${t}`).join(' ')).trim()), out);
    }),
    { numRuns: 15 },
  );
});

test('a table whose help is roff is printed, not obeyed', () => {
  const evil = '.so /etc/passwd';
  const r = reference({ x: { flags: ['f'] } }, (of) =>
    of === 'top' ? `u   ${evil}\n\n  x   ${evil}` : `${evil}\n${evil}\n  --f   '\\*[x] \\fB"${evil}`,
  );
  const page = manual(r, 'en', '1"\n.so /etc/passwd');
  assert.not.match(page, /^['.]so/m);
  assert.is(flat(groff(page)).split(evil).length - 1 >= 5, true);
  assert.match(flat(groff(page)), `'\\*[x] \\fB"${evil}`);
});

test.run();
