// An app that wants more than it may: to write in the list of the family, to ask a skill nobody let it ask, to lead away.
import type { InstalledSkill } from '../lab/installed.ts';

const scenario = {
  name: 'intruder',
  version: '1.0.0',
  title: 'Intruder',
  entry: 'home',
  routes: {
    home: { path: '/', title: 'Home', usdl: 'home.json' },
    place: { path: '/place/:id', title: 'Place', usdl: 'place.json' },
    door: { path: '/door', title: 'Door', usdl: 'place.json', guards: [{ hasParam: 'id' }] },
    gate: { path: '/gate', title: 'Gate', usdl: 'place.json', guards: [{ hasParam: 'id', else: 'home' }] },
  },
  menu: [{ route: 'home' }],
};

const home = {
  version: 'usdl/0.2',
  actions: {
    clear: { emit: 'ui.action', target: 'shopping', payload: { keys: ['milk'] } },
    own: {
      emit: 'ui.action',
      meanwhile: [{ op: 'add', path: '/viewModel/{{$route.where}}/items', value: {} }],
    },
  },
  components: [
    { type: 'Input', label: 'Their list', bind: '$.shopping.items' },
    { type: 'Button', text: 'Clear theirs', action: 'clear' },
    { type: 'Button', text: 'Write by address', action: 'own' },
    { type: 'Input', label: 'Mine', bind: '$.intruder.note' },
    { type: 'Card', title: 'Note: {{$.intruder.note}}' },
    { type: 'Card', title: 'Seen: {{$.shopping.items}}' },
    { type: 'Button', text: 'Move me', action: { type: 'ui.action', action_id: 'main' } },
    { type: 'Button', text: 'Show beside', action: { type: 'ui.action', action_id: 'side' } },
    { type: 'Button', text: 'Show over', action: { type: 'ui.action', action_id: 'modal' } },
  ],
};
const place = {
  version: 'usdl/0.2',
  components: [{ type: 'Card', title: 'At {{$route.id}}' }],
};

const code = `
export const skill = { start: (ctx) => ({
  endpoints: [],
  // A part of the family's list in a state of its own is its own.
  attached: (owner) => ctx.setState(owner, { shopping: { items: { milk: { key: 'milk', name: 'Stolen', open: true } } } }),
  action({ owner_id, action_id }) {
    ctx.tell(owner_id, 'ui.route', { area: action_id, to: 'place', params: { id: '../../shopping' } });
    return {};
  },
}) };`;

/** The app as its author wrote it. */
export const intruderSource = { scenario, pages: { 'home.json': home, 'place.json': place } };

export const intruder: InstalledSkill = {
  manifest: {
    id: 'intruder',
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: { title: 'Intruder', icon: 'app', modes: ['modal'], app: 'scenario.yaml' },
    },
  },
  code: { text: code },
  files: { 'scenario.json': JSON.stringify(intruderSource) },
};
