// A skill of the tests' own on a house's bus: a lamp with a choice, a way to another skill, and two sizes.

import { skill1, skillBusName } from '../../../firmware/skills/contract.ts';
import { startHost } from '../../../firmware/skills/host.ts';
import type { JsonObject } from '../../../firmware/skills/skill.ts';
import { logger } from '../../../firmware/system/log.ts';
import type { House } from '../../../services/cli/house/house.ts';

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
        type: 'button',
        label: 'Look at the hub',
        action: { type: 'navigate', path: 'skill:hub_status', mode: 'panel' },
      },
    ],
  },
};

/** Serves the skill on the house's bus; real host code, no process of its own. */
export async function serveLantern(house: House): Promise<void> {
  const bus = await house.connection();
  const updates: ((owner_id: string, doc: string, update: Uint8Array) => void)[] = [];
  const host = startHost(
    {
      manifest: {
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
      },
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
            answer: ({ body }) => ({ body: {}, state: () => ({ glow: body['value'] ?? 'out' }) }),
          },
        ],
      }),
    },
    {
      context: {
        language: 'en',
        log: logger('lantern'),
        publish: bus.publish,
        client: bus.client,
        names: bus.listNames,
      },
      update: (owner_id, doc, update) => {
        for (const f of updates) f(owner_id, doc, update);
      },
    },
  );
  const served = await bus.serve(skill1, host.implementation, { busName: skillBusName('lantern') });
  updates.push((owner_id, doc, update) => served.emit('Update', { owner_id, doc, update }));
}
