// A skill of the tests' own whose screen is a page of its own: a good one, and ones that want more than they may.
import type { InstalledSkill } from '../installed.ts';

const hello = `
const ticket = document.querySelector('meta[name="ingle-ticket"]').content;
const say = (m) => parent.postMessage(m, '*');
const heard = (of) => addEventListener('message', (e) => { if (e.source === parent) of(e.data); });
`;

/** Draws, asks its skill, shows what comes back. */
const good = `<!doctype html><html lang="en"><head><title>Dial</title><link rel="stylesheet" href="look.css">
<script defer src="./dial.js"></script></head>
<body><h1>Dial</h1><p><img src="../img/mark.svg" alt="Mark" width="24" height="24"> <span id="told">Nothing yet</span></p>
<button type="button" id="up">Turn up</button> <button type="button" id="high">Grow</button>
<p id="answer" role="status"></p></body></html>`;
const look = `:root { color-scheme: light; font: 16px system-ui; color: #221a12; }
:root[data-theme="dark"] { color-scheme: dark; color: #f3ece4; }
body { margin: 0; padding: 8px; } button { min-height: 44px; font: inherit; }`;
const dial = `${hello}
const byId = (id) => document.getElementById(id);
const done = {};
let last = 0;
const ask = (method, api, body) => new Promise((ok, no) => {
  done[++last] = (m) => (m.error ? no(m.error) : ok(m.body));
  say({ type: 'request', id: last, method, api, ...(body ? { body } : {}) });
});
heard((m) => {
  if (m.type === 'context') {
    document.documentElement.dataset.theme = m.theme;
    byId('told').textContent = [m.theme, m.language, m.w > 100, m.h].join(' ');
  }
  if (m.type === 'answer') done[m.id]?.(m);
});
window.ask = ask;
byId('up').onclick = async () => { byId('answer').textContent = 'It is at ' + (await ask('POST', '/v1/turn', { by: 2 })).at; };
byId('high').onclick = () => say({ type: 'resize', h: 420 });
say({ type: 'hello', ticket });
ask('GET', '/v1/dial?unit=clicks').then((d) => { byId('answer').textContent = 'It is at ' + d.at + ' ' + d.unit; });
`;

/** Tries what no page may; \`tried\` says what came of it. */
const hostile = `<!doctype html><html lang="en"><title>Hostile</title><p>Hostile</p><script>${hello}
const [root, other] = ['ROOT', 'OTHER'];
window.tried = {};
window.reports = [];
addEventListener('securitypolicyviolation', (e) => reports.push(e.effectiveDirective));
const attempt = async (name, f) => { try { tried[name] = 'got ' + String(await f()).slice(0, 80); } catch (e) { tried[name] = 'refused'; } };
const load = (tag, more) => new Promise((ok, no) => {
  const e = Object.assign(document.createElement(tag), more, { onload: () => ok('loaded'), onerror: no });
  document.body.append(e);
});
const done = {};
heard((m) => { if (m.type === 'answer') done[m.id]?.(m); });
const ask = (id, more) => new Promise((ok) => { done[id] = (m) => ok(m.error ? m.error.error : 'answered'); say({ type: 'request', id, ...more }); });
window.go = async () => {
  say({ type: 'hello', ticket });
  await attempt('cookie', () => document.cookie);
  await attempt('localStorage', () => localStorage.length);
  await attempt('sessionStorage', () => sessionStorage.length);
  await attempt('indexedDB', () => new Promise((ok, no) => { const r = indexedDB.open('x'); r.onsuccess = ok; r.onerror = no; }));
  await attempt('parent', () => parent.document.title);
  await attempt('top', () => top.document.title);
  for (const [name, at] of [['root', root], ['other', other]]) {
    await attempt('fetch ' + name, () => fetch(at + '/leak-fetch'));
    await attempt('socket ' + name, () => new Promise((ok, no) => { const s = new WebSocket(at.replace('http', 'ws') + '/leak-socket'); s.onopen = ok; s.onerror = no; }));
    await attempt('image ' + name, () => load('img', { src: at + '/leak-image' }));
    await attempt('script ' + name, () => load('script', { src: at + '/leak-script' }));
    await attempt('style ' + name, () => load('link', { rel: 'stylesheet', href: at + '/leak-style' }));
    await attempt('top to ' + name, () => { top.location = at + '/leak-top'; return ''; });
    await attempt('parent to ' + name, () => { parent.location = at + '/leak-parent'; return ''; });
    await attempt('popup ' + name, () => { if (!open(at + '/leak-popup')) throw 0; });
    navigator.sendBeacon(at + '/leak-beacon', 'x');
    const form = Object.assign(document.createElement('form'), { action: at + '/leak-form', method: 'post' });
    document.body.append(form);
    form.submit();
    document.body.append(Object.assign(document.createElement('iframe'), { src: at + '/leak-frame' }));
    for (const rel of ['prefetch', 'preload', 'modulepreload', 'icon', 'manifest'])
      document.head.append(Object.assign(document.createElement('link'), { rel, as: 'script', href: at + '/leak-' + rel }));
  }
  await attempt('eval', () => eval('1'));
  await attempt('worker', () => new Promise((ok, no) => { const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); w.onmessage = ok; w.onerror = no; }));
  tried['other skill'] = await ask(1, { api: '/skills/hub_status/v1/state' });
  tried['way up'] = await ask(2, { api: '/v1/../../hub_status/v1/state' });
  tried['hub'] = await ask(3, { api: '/api/node/status' });
  tried['method'] = await ask(4, { api: '/v1/dial', method: 'DELETE' });
  tried['too large'] = await ask(5, { api: '/v1/turn', method: 'POST', body: 'x'.repeat(70000) });
  tried['no such'] = await ask(6, { api: '/v1/nothing' });
  tried['own'] = await ask(7, { api: '/v1/dial' });
  return tried;
};
window.leave = (at) => { location = at + '/leak-self'; };
</script></html>`;

/** Talks before its hello and with a wrong one, and past its container. */
const early = `<!doctype html><html lang="en"><title>Early</title><p>Early</p><script>${hello}
window.answers = 0;
heard(() => window.answers++);
window.before = () => {
  say({ type: 'resize', h: 900 });
  say({ type: 'request', id: 1, api: '/v1/turn', method: 'POST', body: { by: 50 } });
  for (const wrong of [undefined, '', ticket + 'x', ticket.slice(1), [ticket], 'x'.repeat(ticket.length)]) say({ type: 'hello', ticket: wrong });
  say({ type: 'resize', h: 901 });
  top.postMessage({ type: 'hello', ticket }, '*');
  top.postMessage({ type: 'resize', h: 902 }, '*');
};
window.after = () => { say({ type: 'hello', ticket }); say({ type: 'resize', h: 1e9, w: -1 }); };
window.ticket = ticket;
</script></html>`;

const flood = `<!doctype html><html lang="en"><title>Flood</title><button type="button" onclick="for (let i = 0; i < 5000; i++) say({ type: 'resize', h: 200 + (i % 2) })">Flood</button>
<script>${hello} say({ type: 'hello', ticket });</script></html>`;

const silent = `<!doctype html><html lang="en"><title>Silent</title><p>I say nothing</p></html>`;

/** Through root, where no script stands in the page itself; tries what it may not, and is then silent. */
const open =
  '<!doctype html><html lang="en"><title>Open</title><p>Open</p><script src="open.js"></script></html>';
const openScript = `${hello}
const [root, other] = ['ROOT', 'OTHER'];
const base = document.querySelector('base').href;
const image = (src) => new Promise((ok) => { const i = new Image(); i.onload = () => ok('answered'); i.onerror = () => ok('refused'); i.src = src; });
const script = (src) => new Promise((ok) => { const s = document.createElement('script'); s.onload = () => ok('answered'); s.onerror = () => ok('refused'); s.src = src; document.body.append(s); });
const asked = (address) => fetch(address).then(() => 'answered', () => 'refused');
const tried = (of) => { try { return of() === undefined ? 'refused' : 'answered'; } catch { return 'refused'; } };
window.reports = [];
addEventListener('securitypolicyviolation', (e) => reports.push(e.effectiveDirective));
window.go = async () => ({
  own: await image(base + 'img/mark.svg'),
  'own by fetch': await asked(base + 'img/mark.svg'),
  elsewhere: await image(other + '/leak-image'),
  script: await script(other + '/leak-script'),
  'script of root': await script(root + '/leak-script'),
  'root by fetch': await asked(root + '/v1/owner/credentials'),
  inline: tried(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); return window.ran; }),
  text: tried(() => new Function('return 1')()),
  cookie: tried(() => document.cookie),
  storage: tried(() => localStorage.length),
  application: tried(() => parent.document),
  top: tried(() => { top.location = other + '/leak-top'; return undefined; }),
});
window.leave = (to) => { location = to; };
window.greet = () => say({ type: 'hello', ticket });
greet();
`;

const files = {
  'open.html': ['text/html', open],
  'open.js': ['text/plain', openScript],
  'panel/good.html': ['text/html', good],
  'panel/look.css': ['text/plain', look],
  'panel/dial.js': ['text/plain', dial],
  'img/mark.svg': [
    'text/plain',
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#c2571a"/></svg>',
  ],
  'hostile.html': ['text/html', hostile],
  'early.html': ['text/html', early],
  'flood.html': ['text/html', flood],
  'silent.html': ['text/html', silent],
};

const code = `
const files = ${JSON.stringify(files)};
let places = { ROOT: '', OTHER: '' };
let at = 3;
export const skill = { start: (ctx) => {
  const show = (owner, page) => ctx.setView(owner, {
    umf: page, title: 'The dial', h: 300,
    ulm: '# In words\\n\\nThe dial is turned by hand.\\n',
  });
  return {
    attached: (owner) => show(owner, 'panel/good.html'),
    endpoints: [
      ...Object.entries(files).map(([name, [type, text]]) => ({
        method: 'GET', path: '/v1/ui/' + name,
        answer: () => ({ type, text: Object.entries(places).reduce((t, [k, v]) => t.replace("'" + k + "'", JSON.stringify(v)), text) }),
      })),
      { method: 'POST', path: '/v1/show', answer({ owner_id, body }) {
        places = { ROOT: String(body.root ?? ''), OTHER: String(body.other ?? '') };
        show(owner_id, body.page);
        return { body: {} };
      } },
      { method: 'GET', path: '/v1/dial', answer: ({ query }) => ({ body: { at, unit: query.get('unit') } }) },
      { method: 'POST', path: '/v1/turn', answer({ body }) { at += Number(body.by); return { body: { at } }; } },
    ],
  };
} };`;

const skill = (id: string, title: string, more: { pages?: 'root' }): InstalledSkill => ({
  manifest: {
    id,
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: {
        ...{ title, icon: 'app', modes: ['modal', 'panel'], schema: 'ui/v0', ...more },
        sizeHints: { w: 560, h: 560 },
      },
    },
  },
  code: { text: code },
});

export const framed = skill('framed', 'Framed', {});
/** The same, and its pages come through root. */
export const ticketed = skill('ticketed', 'Ticketed', { pages: 'root' });
