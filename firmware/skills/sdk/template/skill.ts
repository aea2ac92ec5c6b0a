// Counts how often each owner presses a button, and begins anew each day.
import { defineSkill, type View } from '@ingle/skill-sdk';
import { t } from './texts.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The screen: texts are in `meta.texts`, what moves is bound to the state. */
const view = (id: string): View => ({
  schema: 'ui/v0',
  meta: { title: t.ref('title'), texts: t.all() },
  layout: {
    type: 'stack',
    gap: 12,
    children: [
      {
        type: 'row',
        gap: 8,
        children: [
          { type: 'metric', label: t.ref('today'), value: '{{state.today}}' },
          { type: 'metric', label: t.ref('ever'), value: '{{state.ever}}' },
        ],
      },
      {
        type: 'button',
        label: t.ref('press'),
        action: { type: 'http.post', path: `/skills/${id}/v1/press`, body: {} },
      },
    ],
  },
});

export const skill = defineSkill({
  start(ctx) {
    const stored = (owner: string, key: string) => ctx.storage.of(owner).get<number>(key) ?? 0;
    const show = (owner: string) => {
      const [today, ever] = [stored(owner, 'today'), stored(owner, 'ever')];
      ctx.setState(owner, { today: t('times', { count: today }), ever: t('times', { count: ever }) });
    };
    if (!ctx.timers.due()['midnight'])
      ctx.timers.set('midnight', { every: DAY_MS }).catch((cause) => ctx.log.error('no timer', { cause }));
    return {
      attached(owner) {
        ctx.setView(owner, view(ctx.id));
        show(owner);
      },
      async timer() {
        for (const owner of ctx.owners()) {
          await ctx.storage.of(owner).set('today', 0);
          show(owner);
        }
      },
      endpoints: [
        {
          method: 'POST',
          path: '/v1/press',
          async answer({ owner_id }) {
            const mine = ctx.storage.of(owner_id);
            const [today, ever] = [stored(owner_id, 'today') + 1, stored(owner_id, 'ever') + 1];
            await Promise.all([mine.set('today', today), mine.set('ever', ever)]);
            show(owner_id);
            return { body: { today, ever } };
          },
        },
      ],
    };
  },
});
