// A skill of the tests' own, installed beside those of the image: a lamp with a choice, a way to another skill, and two
// sizes.

import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Manifest } from '../../../firmware/skills/manifest.ts';
import type { JsonObject, SkillDefinition } from '../../../firmware/skills/sdk/skill.ts';
import type { InstalledSkill } from '../installed.ts';

export const lanternView: JsonObject = {
  schema: 'ui/v0',
  layout: {
    type: 'stack',
    gap: 12,
    children: [
      { type: 'title', text: 'Lantern' },
      { type: 'text', text: 'It glows {{state.glow}}' },
      {
        type: 'select',
        label: 'Glow',
        bind: '{{state.glow}}',
        options: [
          { label: 'Softly', value: 'softly' },
          { label: 'Brightly', value: 'brightly' },
        ],
        action: { type: 'http.post', path: '/skills/lantern/v1/glow', body: {} },
      },
      {
        type: 'form',
        label: 'Name it',
        fields: [{ key: 'value', label: 'Words', value: '{{state.glow}}' }],
        action: { type: 'http.post', path: '/skills/lantern/v1/glow', body: { value: 'nothing' } },
      },
      { type: 'text', text: 'It heard a secret of {{state.secret}} letters' },
      {
        type: 'form',
        label: 'Whisper',
        fields: [{ key: 'word', label: 'Secret word', secret: true }],
        action: { type: 'http.post', path: '/skills/lantern/v1/whisper', body: {} },
      },
      {
        type: 'button',
        label: 'Look at the hub',
        action: { type: 'navigate', path: 'skill:hub_status', mode: 'panel' },
      },
    ],
  },
};

const manifest: Manifest = {
  id: 'lantern',
  version: '1.0.0',
  capabilities: {
    visual: true,
    ui: {
      icon: 'lamp',
      title: 'Lantern',
      modes: ['modal', 'panel'],
      sizeHints: { w: 560, h: 420 },
      schema: 'ui/v0',
    },
  },
};

export const skill: SkillDefinition = {
  start: (ctx) => ({
    attached(owner) {
      // A view that is stored already stays, as it may be of a newer build.
      if (ctx.state(owner)['glow'] !== undefined) return;
      ctx.setView(owner, lanternView);
      ctx.setState(owner, { glow: 'softly' });
    },
    endpoints: [
      {
        method: 'POST',
        path: '/v1/glow',
        async answer({ body }) {
          if (body['value'] === 'slowly') await new Promise((r) => setTimeout(r, 1000));
          if (body['value'] === 'thunder')
            throw new IngleError('invalid_request', 'The words are wrong.', {
              fields: { value: 'A lantern is not loud.' },
            });
          return { body: {}, state: () => ({ glow: body['value'] ?? 'out' }) };
        },
      },
      {
        method: 'POST',
        path: '/v1/tell',
        answer({ owner_id, body }) {
          ctx.tell(owner_id, body['topic'] as 'ui.toast', body['payload'] as never);
          return { body: {} };
        },
      },
      {
        method: 'POST',
        path: '/v1/whisper',
        answer: ({ body }) => ({ body: {}, state: () => ({ secret: String(body['word']).length }) }),
      },
    ],
  }),
};

export const lantern: InstalledSkill = { manifest, code: { file: 'test/lab/browser/lantern.ts' } };
