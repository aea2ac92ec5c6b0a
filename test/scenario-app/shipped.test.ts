// The apps of the image are right, in both languages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { compileApp, contractsOf } from '../../firmware/scenario-app/compile.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';

const top = 'services/skills';
const apps = readdirSync(top).filter((id) => existsSync(`${top}/${id}/scenario.yaml`));
const read = (file: string) => readFileSync(file, 'utf8');

test('two apps ship', () => assert.equal(apps, ['energy', 'shopping']));

for (const id of apps)
  test(`${id} compiles without a word, and says everything in English and Russian`, async () => {
    const manifest = checkManifest(JSON.parse(read(`${top}/${id}/manifest.json`)));
    const scenario = parse(read(`${top}/${id}/scenario.yaml`));
    const files = Object.values(scenario.routes as Record<string, { usdl: string }>).map((r) => r.usdl);
    const pages = Object.fromEntries(files.map((f) => [f, parse(read(`${top}/${id}/${f}`))]));
    const may = contractsOf(manifest.permissions?.contracts);
    const { app, problems } = await compileApp({ scenario, pages }, id, may);
    assert.equal(problems, []);
    const texts: unknown[] = [];
    JSON.stringify(app, (key, value) => {
      if (key === 'i18n' && value !== null) texts.push(Object.keys(value));
      return value;
    });
    assert.ok(texts.length > 8);
    for (const t of texts) assert.equal(t, ['en', 'ru']);
    // What is bound in a text, and words of the page that have no key, would be in one language. The unit of the chart is its column.
    const words = JSON.stringify(app!.routes.map((r) => r.tree.main)).match(
      /"(label|title|text)":"(?!kWh)[^"]+"/g,
    );
    assert.equal(words, null);
  });

test.run();
