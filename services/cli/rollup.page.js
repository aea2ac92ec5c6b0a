// A web application as static files: index.html names hashed chunks, the service worker knows them all,
// every file is compressed ahead, and build.json holds their hashes so that anybody can compare a build.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { brotliCompressSync, gzipSync, constants as z } from 'node:zlib';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build as esbuildBuild, transform } from 'esbuild';
import esbuild from 'rollup-plugin-esbuild';
import { minify } from 'terser';
import { worker } from './rollup.worker.js';

const target = 'es2022';
/** What is loaded together and so is one file: each costs a request, and a name in those that ask for it. */
const together = {
  // What hardly any visit needs would otherwise be everybody's: the puzzle of a surge, the sealed secret (D35).
  rare: /\/(spa\/prove|firmware\/protocol\/(pairing\/puzzle|noise\/seal)|firmware\/text\/spa-prove)\.ts$/,
  // What a skill's first screen is drawn with.
  screen:
    /\/spa\/(skill|screen|acts|drawing|op|table|render|tabs|chart)\.ts$|\/firmware\/(ui\/(overlay|value|tree|chart)|text\/spa-chart)\.ts$/,
  // The desktop itself.
  desktop:
    /\/(spa\/(desktop|icons|attention|arrange|glance|menu|grid|stale|focus|window|gate)|firmware\/protocol\/tunnel\/outbox)\.ts$/,
  // Small pieces that several parts of every desktop share.
  shared:
    /\/(spa\/(key|elevate|open|part)|firmware\/(ui\/arranged|protocol\/(noise\/(hash|x25519)|pairing\/ticket)))\.ts$/,
};
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const bytesOf = (file) => Buffer.from(file.type === 'chunk' ? file.code : file.source);

/**
 * The rollup configuration of one page.
 * `dir/index.html` names its entry as `<script type="module" src="main.ts">` and its styles as `<link rel="stylesheet">`;
 * `dir/sw.ts`, if there, is the service worker and reads `INGLE_PRECACHE` (paths) and `INGLE_BUILD` (hash);
 * images, fonts and the manifest keep their names.
 */
export async function page(dir, out, { define, onwarn }) {
  const html = readFileSync(join(dir, 'index.html'), 'utf8');
  const entry = /<script type="module"[^>]*\bsrc="\.?\/?([^"]+\.ts)"/.exec(html)?.[1];
  if (!entry) throw new Error(`${dir}/index.html names no <script type="module" src="….ts">`);
  if (!existsSync(join(dir, entry))) return [];
  return [
    {
      input: { [dir]: join(dir, entry) },
      onwarn,
      preserveEntrySignatures: false,
      plugins: [
        styles(dir),
        browserMap(),
        webSocketOnly(),
        onlyX25519(),
        plainLogging(),
        noStorage(),
        esbuild({ target, define, include: /\.[jt]s$/, sourceMap: false }),
        worker('INGLE_VEGA_WORKER', 'spa/vega-worker.ts', { target, define, onwarn }),
        // Said here, as it would follow NODE_ENV: a build is the same from a test.
        nodeResolve({
          browser: true,
          exportConditions: ['production'],
          extensions: ['.ts', '.mjs', '.js'],
        }),
        commonjs({ ignoreTryCatch: true }),
        templates(),
        smaller(),
        finish(dir, html, entry, out, define),
      ],
      output: {
        dir: out,
        format: 'es',
        // What a chunk exports is read by our own chunks alone: nobody adds to it, or asks whether it is a module.
        generatedCode: { preset: 'es2015', symbols: false },
        freeze: false,
        hashCharacters: 'base36',
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        // A piece of some hundred bytes costs more by itself than with another that is loaded anyway.
        experimentalMinChunkSize: 700,
        manualChunks: (id) => Object.keys(together).find((name) => together[name].test(id)),
        onlyExplicitManualChunks: true,
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  ];
}

/**
 * lib0 asks localStorage for its own settings while it is loaded, so where a tab's storage throws, Yjs and with it the
 * desktop could not be loaded at all. It has no settings here.
 */
function noStorage() {
  return {
    name: 'no-storage',
    resolveId: (id, importer) =>
      id === './storage.js' && /\/node_modules\/lib0\//.test(importer ?? '') ? '\0no-storage' : null,
    load: (id) =>
      id === '\0no-storage' ? 'export const varStorage = { getItem: () => null, setItem() {} };' : null,
  };
}

/** The `browser` map of a package for its own files: esbuild's plugin resolves relative imports without asking it. */
function browserMap() {
  const maps = new Map();
  return {
    name: 'browser-map',
    resolveId(id, importer) {
      const root = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(importer ?? '')?.[1];
      if (!root || !id.startsWith('.')) return null;
      if (!maps.has(root))
        maps.set(root, JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).browser);
      const map = maps.get(root);
      const path = `./${relative(root, join(dirname(importer), id))}`;
      return typeof map?.[path] === 'string' ? join(root, map[path]) : null;
    },
  };
}

/**
 * Root speaks WebSocket alone, so engine.io-client's other transports would only be weight: the list of them is this
 * one, and what else names them (a re-export, a look for XMLHttpRequest) counts for nothing.
 */
function webSocketOnly() {
  const suffix = '?websocket';
  const noBase64 = '\0no-base64';
  return {
    name: 'websocket-only',
    resolveId(source, importer) {
      if (source.endsWith('/base64-arraybuffer.js') && /\/engine\.io-parser\//.test(importer ?? ''))
        return noBase64;
      const all = source === './transports/index.js' && /\/engine\.io-client\//.test(importer ?? '');
      return all ? join(dirname(importer), 'transports/websocket.js') + suffix : null;
    },
    transform(code, id) {
      if (/\/engine\.io-client\/.*\/(polling|has-cors|webtransport)[\w-]*\.js$/.test(id))
        return { code, map: null, moduleSideEffects: false };
      const bodies = Object.entries(needless).find(([file]) => id.endsWith(file))?.[1];
      return bodies ? { code: instead(this.parse(code), code, bodies), map: null } : null;
    },
    load(id) {
      // Bytes of a WebSocket are bytes; what says that it is base64 is no message.
      if (id === noBase64) return 'export const decode = () => new ArrayBuffer(0);';
      if (!id.endsWith(suffix)) return null;
      const file = JSON.stringify(id.slice(0, -suffix.length));
      return `import { WS } from ${file};\nexport const transports = { websocket: WS };`;
    },
  };
}

/** Bodies of methods that nothing calls here: other transports, packets sent again, listeners to whatever comes or goes. */
const needless = {
  '/engine.io-client/build/esm/socket.js': {
    _probe: '{}',
    _getWritablePackets: '{ return this.writeBuffer; }',
  },
  '/socket.io-client/build/esm/socket.js': {
    ...Object.fromEntries(
      ['on', 'prepend', 'off', 'listeners'].flatMap((n) => [
        [`${n}Any`, '{}'],
        [`${n}AnyOutgoing`, '{}'],
      ]),
    ),
    ...{ _addToQueue: '{}', _drainQueue: '{}', notifyOutgoingListeners: '{}', emitWithAck: '{}' },
  },
};

/** The code of a module with other bodies for some methods of its classes. @throws Error where one is not there */
function instead(ast, code, bodies) {
  const methods = ast.body
    .map((n) => n.declaration ?? n)
    .filter((n) => n.type === 'ClassDeclaration')
    .flatMap((n) => n.body.body);
  const found = Object.entries(bodies).map(([name, text]) => {
    const method = methods.find((m) => m.key?.name === name);
    if (!method) throw new Error(`${name}() is not where it was.`);
    return { ...method.value.body, text };
  });
  // From the end, so that what comes before stays where it is.
  return found
    .sort((a, b) => b.start - a.start)
    .reduce((out, { start, end, text }) => out.slice(0, start) + text + out.slice(end), code);
}

/**
 * Of tweetnacl, in its smaller form of plain loops, only the X25519 that a browser without it in WebCrypto loads: as a
 * module whose functions can be left out, for its own wrapper keeps them all.
 */
function onlyX25519() {
  return {
    name: 'only-x25519',
    resolveId(source, importer, o) {
      return source === 'tweetnacl' ? this.resolve('tweetnacl/nacl.js', importer, o) : null;
    },
    load(id) {
      if (!id.endsWith('/tweetnacl/nacl.js')) return null;
      const inner = /^\(function\(nacl\) \{\n(.*)\nvar crypto_secretbox_KEYBYTES/s.exec(
        readFileSync(id, 'utf8'),
      )?.[1];
      if (!inner?.includes('function crypto_scalarmult(q, n, p)'))
        throw new Error(`${id} is not laid out as it was.`);
      return `${inner}
        const scalarMult = (n, p) => {
          if (n.length !== 32 || p.length !== 32) throw new Error('bad length');
          const q = new Uint8Array(32);
          crypto_scalarmult(q, n, p);
          return q;
        };
        export default { scalarMult };`;
    },
  };
}

/** Yjs warns through a logger that draws in colours and pictures, with a schema library behind it: the console will do. */
function plainLogging() {
  const id = '\0plain-logging';
  return {
    name: 'plain-logging',
    resolveId: (source, importer) =>
      source === 'lib0/logging' && /\/yjs\//.test(importer ?? '') ? id : null,
    load: (what) =>
      what === id
        ? `export const { warn, log: print } = console;
           export const [ORANGE, BOLD, UNBOLD, RED] = ['', '', '', ''];`
        : null,
  };
}

/** What htm drops of a template's text when it draws a page, line breaks and what indents them, is not sent at all. */
function templates() {
  return {
    name: 'templates',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('html`')) return null;
      let out = '';
      let at = 0;
      for (const { start, end, text } of templatesIn(this.parse(code)).sort((a, b) => a.start - b.start)) {
        out += code.slice(at, start) + text;
        at = end;
      }
      return { code: out + code.slice(at), map: null };
    },
  };
}

/** The pieces of all templates below a node of the syntax tree, and the text that each becomes. */
function templatesIn(node) {
  if (!node || typeof node !== 'object') return [];
  const below = Object.values(node).flatMap(templatesIn);
  if (node.type !== 'TaggedTemplateExpression' || node.tag.name !== 'html') return below;
  // A piece may end within a tag, and the next one goes on in it.
  let inTag = false;
  const own = node.quasi.quasis.map(({ start, end, value }) => {
    const text = value.raw.replace(/[^<>]+|[<>]/g, (part) => {
      if (part === '<' || part === '>') inTag = part === '<';
      else if (!inTag) return part.replace(/^\s*\n\s*|\s*\n\s*$/g, '').replace(/\s*\n\s*/g, ' ');
      else return part.replace(/\s*\n\s*/g, ' ');
      return part;
    });
    return { start, end, text };
  });
  return [...below, ...own];
}

/** What esbuild has made small, terser makes smaller by 3 % (gzip). */
function smaller() {
  return {
    name: 'minify',
    async renderChunk(code) {
      const r = await transform(code, { minify: true, target, legalComments: 'none', format: 'esm' });
      return {
        code: (await minify(r.code, { module: true, ecma: 2020, compress: { passes: 3 } })).code,
        map: null,
      };
    },
  };
}

/** `import { sheet } from './x.css'` brings the style sheet with the chunk; `sheet` is settled when it is there. */
function styles(dir) {
  const minified = async (file) =>
    (await transform(readFileSync(file, 'utf8'), { loader: 'css', minify: true, target })).code;
  return {
    name: 'styles',
    async load(id) {
      if (!id.endsWith('.css')) return null;
      this.addWatchFile(id);
      const sheet = this.emitFile({
        type: 'asset',
        name: basename(id),
        originalFileName: relative(process.cwd(), id),
        source: await minified(id),
      });
      const code = `export const sheet = new Promise((done) => {
          const link = document.createElement('link');
          link.rel = 'stylesheet';
          link.href = import.meta.ROLLUP_FILE_URL_${sheet};
          // Without it a page can still be read.
          link.onload = link.onerror = done;
          document.head.append(link);
        });`;
      return { code, moduleSideEffects: true };
    },
    async buildStart() {
      for (const [, href] of readFileSync(join(dir, 'index.html'), 'utf8').matchAll(
        /<link[^>]*href="\.?\/?([^"]+\.css)"/g,
      ))
        this.emitFile({
          type: 'asset',
          name: basename(href),
          originalFileName: href,
          source: await minified(join(dir, href)),
        });
    },
  };
}

/** The page that holds a skill's own is one of these as well, as it stands. */
const copied = /\.(png|svg|ico|webp|woff2|webmanifest|txt)$|^public\/frame\.html$/;
function plainFiles(dir, below = '') {
  return readdirSync(join(dir, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((e) => {
      const path = below ? `${below}/${e.name}` : e.name;
      if (e.isDirectory()) return plainFiles(dir, path);
      return copied.test(path) && !e.name.startsWith('screenshot') ? [path] : [];
    });
}

/**
 * What the worker does not bring by itself: a sandboxed frame has no worker, so its page would be kept for nothing, and
 * what draws Vega-Lite weighs more than all the rest; it is kept once it was used.
 */
const isLate = (file) => file.fileName === 'frame.html' || /^assets\/vega-worker-/.test(file.fileName);

/** Writes what needs the names of all others: index.html, sw.js, build.json, and the compressed copies. */
function finish(dir, html, entry, out, define) {
  return {
    name: 'finish',
    async generateBundle(_, bundle) {
      const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source });
      for (const path of plainFiles(dir)) emit(path.replace(/^public\//, ''), readFileSync(join(dir, path)));
      const files = Object.values(bundle);
      const main = files.find((f) => f.type === 'chunk' && f.isEntry);
      let text = html
        .replace(/<!--[\s\S]*?-->\n?/g, '')
        .replace(new RegExp(`"\\.?/?${entry.replace(/[.]/g, '\\.')}"`), `"/${main.fileName}"`)
        .replace(/href="\.?\/?([^"]+\.css)"/g, (all, href) => {
          const css = files.find((f) => f.originalFileNames?.includes(href));
          return css ? `href="/${css.fileName}"` : all;
        });
      const links = staticImports(bundle, main.fileName).map(
        (f) => `<link rel="modulepreload" href="/${f}">`,
      );
      let inline = '';
      if (existsSync(join(dir, 'early.ts'))) {
        const early = await iife(join(dir, 'early.ts'), {
          ...define,
          INGLE_DESKTOP: JSON.stringify(desktopOf(bundle, main.fileName).map((f) => `/${f}`)),
        });
        inline = `<script>${Buffer.from(early).toString().trim()}</script>`;
        text = text.replace('<script src="early.ts"></script>', () => inline);
      }
      text = text.replace('</head>', `${links.join('\n')}${links.length ? '\n' : ''}</head>`);
      emit('index.html', text);

      const paths = Object.keys(bundle).sort();
      const hash = sha256(paths.map((p) => `${p} ${sha256(bytesOf(bundle[p]))}\n`).join(''));
      if (existsSync(join(dir, 'sw.ts'))) {
        const worker = await iife(join(dir, 'sw.ts'), {
          ...define,
          INGLE_PRECACHE: JSON.stringify(
            paths.filter((p) => !isLate(bundle[p])).map((p) => (p === 'index.html' ? '/' : `/${p}`)),
          ),
          INGLE_BUILD: JSON.stringify(hash),
        });
        emit('sw.js', worker);
      }
      emit('build.json', `${JSON.stringify(description(bundle, inline), null, 1)}\n`);
      for (const file of Object.values(bundle)) {
        const data = bytesOf(file);
        if (data.length < 512 || /\.(png|webp|woff2|ico|gz|br)$/.test(file.fileName)) continue;
        emit(`${file.fileName}.gz`, gzipSync(data, { level: 9 }));
        emit(`${file.fileName}.br`, brotliCompressSync(data, { params: { [z.BROTLI_PARAM_QUALITY]: 11 } }));
      }
      // A chunk of an earlier build would be served for ever.
      rmSync(out, { recursive: true, force: true });
    },
  };
}

/** A script by itself. */
async function iife(file, define) {
  const options = { bundle: true, write: false, minify: true, format: 'iife', target, define };
  const { outputFiles } = await esbuildBuild({ entryPoints: [file], ...options });
  return outputFiles[0].contents;
}

/** What a desktop is made of, and what that imports, but the page's own script. */
function desktopOf(bundle, main) {
  const parts = /\/spa\/(link|icons|sync|desktop)\.ts$/;
  const first = Object.values(bundle).filter(
    (f) => f.type === 'chunk' && f.fileName !== main && Object.keys(f.modules).some((m) => parts.test(m)),
  );
  const all = new Set(first.flatMap((f) => [f.fileName, ...staticImports(bundle, f.fileName)]));
  all.delete(main);
  return [...all];
}

function staticImports(bundle, fileName, seen = new Set()) {
  for (const f of bundle[fileName]?.imports ?? [])
    if (bundle[f] && !seen.has(f)) {
      seen.add(f);
      staticImports(bundle, f, seen);
    }
  return [...seen];
}

/** build.json: every file's hash and size, how chunks hang together, the style sheets they bring, what the page's own script weighs (gzip bytes), and one hash over all. */
function description(bundle, inline) {
  const files = {};
  for (const path of Object.keys(bundle).sort()) {
    const data = bytesOf(bundle[path]);
    files[path] = { sha256: sha256(data), bytes: data.length, gzip: gzipSync(data, { level: 9 }).length };
  }
  const chunks = {};
  const all = Object.values(bundle);
  for (const f of all)
    if (f.type === 'chunk') {
      const modules = Object.keys(f.modules).map((m) =>
        m.replace(`${process.cwd()}/`, '').replace(/\0|\?.*/g, ''),
      );
      const isSheet = (a) => a.type === 'asset' && a.originalFileNames.some((name) => modules.includes(name));
      chunks[f.fileName] = {
        name: f.name,
        entry: f.isEntry,
        imports: f.imports.filter((i) => bundle[i]),
        dynamicImports: f.dynamicImports.filter((i) => bundle[i]),
        modules,
        styles: all.filter(isSheet).map((a) => a.fileName),
      };
    }
  const hash = sha256(
    Object.entries(files)
      .map(([p, f]) => `${p} ${f.sha256}\n`)
      .join(''),
  );
  return { hash, files, chunks, inline: gzipSync(inline, { level: 9 }).length };
}
