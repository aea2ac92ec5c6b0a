// A skill's page as one text: what it names beside it is in it, and no page, however it is written, takes long.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assetBounds, assetPath, assetsOf, wholePage } from '../../firmware/ui/page/assets.ts';
import { busyFor } from '../lab/busy.ts';

const test = suite('assets of a page');

const bytes = (text: string) => new TextEncoder().encode(text);
const meta = '<meta name="ingle-ticket" content="T">';
const whole = (html: string, files: Record<string, string> = {}, page = 'panel/index.html') =>
  wholePage(html, page, new Map(Object.entries(files).map(([k, v]) => [k, bytes(v)])), 'T');

test('an address means a file below /v1/ui/, or nothing', () => {
  const rows: [page: string, address: string, path: string | null][] = [
    ['index.html', 'a.js', 'a.js'],
    ['panel/index.html', 'a.js', 'panel/a.js'],
    ['panel/index.html', './b/a.js', 'panel/b/a.js'],
    ['panel/index.html', '../a.js', 'a.js'],
    ['panel/index.html', '/v1/ui/a.js', 'a.js'],
    ['panel/index.html', '../../a.js', null],
    ['panel/index.html', '/v1/ui/../a.js', null],
    ['index.html', '/a.js', null],
    ['index.html', '/v1/state', null],
    ['index.html', '/skills/other/v1/ui/a.js', null],
    ['index.html', '//x.y/a.js', null],
    ['index.html', 'https://x.y/a.js', null],
    ['index.html', 'data:text/javascript,1', null],
    ['index.html', 'a.js?x', null],
    ['index.html', 'a%2f..%2f..%2fb', null],
    ['index.html', '.hidden', null],
    ['index.html', 'a//b', null],
    ['index.html', '', null],
    ['index.html', 'x'.repeat(201), null],
  ];
  for (const [page, address, path] of rows) assert.is(assetPath(page, address), path, `${page} ${address}`);
  const step = fc.constantFrom('..', '.', 'a', '', '/', 'v1', 'ui', '%2e%2e');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(step).map((s) => s.join('/')),
        fc.string(),
      ),
      (address) => {
        const path = assetPath('panel/index.html', address);
        if (path === null) return;
        const url = new URL(path, 'http://hub/skills/lamp/v1/ui/');
        assert.is(url.href, `http://hub/skills/lamp/v1/ui/${path}`);
      },
    ),
    { numRuns: 3000 },
  );
});

test('scripts, styles and images are put in, and what is elsewhere stays as it is', () => {
  const html = `<!doctype html><html lang=en><head><LINK REL="Stylesheet" href=look.css media="screen and (min-width: 1px)">
<link rel=icon href=x.png><script type="module" src='./app.js'></script><script src="https://x.y/z.js"></script></head>
<body><img alt="A &amp; B" src="../pic.svg" srcset="x 2x"><!-- <img src="no.png"> --><script>"<img src='no.png'>"</script>
<img src="no.exe"></body></html>`;
  assert.equal(assetsOf(html, 'panel/index.html'), ['panel/look.css', 'panel/app.js', 'pic.svg']);
  const got = whole(html, { 'panel/look.css': 'a{}', 'panel/app.js': 'go()', 'pic.svg': '<svg>~~~</svg>' });
  assert.ok(got.startsWith(`<!doctype html>${meta}<html lang=en>`));
  assert.ok(got.includes('<style media="screen and (min-width: 1px)">a{}</style>'), got);
  assert.ok(got.includes('<script type="module">go()</script>'));
  assert.ok(got.includes('<script src="https://x.y/z.js"></script>'));
  const svg = Buffer.from('<svg>~~~</svg>').toString('base64');
  assert.ok(got.includes(`<img alt="A &amp; B" src="data:image/svg+xml;base64,${svg}">`), got);
  assert.ok(got.includes('<!-- <img src="no.png"> --><script>"<img src=\'no.png\'>"</script>'));
  assert.ok(got.includes('<link rel=icon href=x.png>'));
});

test('no file ends the element it is put into', () => {
  const js = 'x = "</script><b>"; y = "<!--"; z = /<\\/b/;';
  const got = whole('<script src=a.js></script><link rel=stylesheet href=a.css>', {
    'panel/a.js': js,
    'panel/a.css': 'a::before{content:"</STYLE>"}',
  });
  assert.is(
    got,
    `${meta}<script>x = "<\\/script><b>"; y = "<\\!--"; z = /<\\/b/;</script><style>a::before{content:"<\\/STYLE>"}</style>`,
  );
  // As a program it says what it did.
  const of = (text: string) => new Function(`let x, y, z; ${text}; return [x, y, String(z)]`)() as unknown;
  assert.equal(of(/<script>(.*?)<\/script>/.exec(got)![1]!), of(js));
});

test('a script that waits for the page stands last, and a file that is missing is left out', () => {
  assert.is(
    whole('<script defer src=a.js></script><p>x</p><script async defer src=b.js></script></html>', {
      'panel/a.js': 'a',
      'panel/b.js': 'b',
    }),
    `${meta}<p>x</p><script>b</script></html><script>a</script>`,
  );
  assert.is(whole('<i><script src=a.js></script><img src=a.png></i>'), `${meta}<i></i>`);
});

test('a tag that never ends is text, and of too many files the first are taken', () => {
  for (const html of [
    '<img src=a.png',
    '<script src=a.js>',
    '<img src="a.png>',
    '<!-- <img src=a.png>',
    '<',
    '</',
  ])
    assert.equal([assetsOf(html, 'x'), whole(html)], [[], meta + html]);
  const many = Array.from({ length: 100 }, (_, i) => `<img src=${i}.png><img src=${i}.png>`).join('');
  const of = assetsOf(many, 'x');
  assert.equal([of.length, of[0], of.at(-1)], [assetBounds.files, '0.png', `${assetBounds.files - 1}.png`]);
});

test('a page without files comes through whole, whatever is in it', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '=',
    ' ',
    '/',
    '<!--',
    '-->',
    '<script',
    '</script>',
    'src',
    'a.js',
  );
  const html = fc.oneof(
    fc.array(fc.oneof(piece, fc.string())).map((p) => p.join('')),
    fc.string(),
  );
  fc.assert(
    fc.property(html, (text) => {
      if (assetsOf(text, 'p').length === 0) assert.is(whole(text, {}, 'p').replace(meta, ''), text);
      else assert.ok(whole(text, {}, 'p').includes(meta));
    }),
    { numRuns: 3000 },
  );
});

test('half a megabyte of hostile text takes no second', () => {
  const parts = [
    '<link ',
    '<img src="',
    "<script a='",
    '<!--',
    '<script>',
    '<title>',
    '<a b=c ',
    '<',
    '<style/',
  ];
  for (const part of [...parts, '<img src=a.png>', '<img =', '<script></script ', '<a ']) {
    const html = part.repeat(524_288 / part.length);
    const { ms } = busyFor(() => whole(html));
    assert.ok(ms < 1000, `${part}: ${ms} ms`);
  }
});

test.run();
