// The screen of `updates` as ui/v0: it changes with the state, as each step offers other buttons. Pure.
import { localizer } from '../../../firmware/text/i18n.ts';
import { updateText } from '../../../firmware/text/update.ts';
import type { View, ViewNode } from '../../../firmware/ui/schema.ts';

/** Orders a person may give, as `can` of Update1.Status names them; the text of each button. */
const buttons = {
  check: 'check',
  install: 'install',
  restart: 'restartNow',
  night: 'restartNight',
  cancel: 'cancel',
  rollback: 'rollback',
} as const;
type Order = keyof typeof buttons;

/** What of the screen is there now. */
export interface Shown {
  /** RAUC is there. */
  supported: boolean;
  can: readonly string[];
  progress: boolean;
  notes: boolean;
  trouble: boolean;
  result: boolean;
}

const labels = ['title', 'current', 'available', 'previous', 'notes', ...Object.values(buttons)] as const;

/** The view: its texts are in `meta.texts` in every language, what is shown is bound to the state. */
export function updatesView(s: Shown): View {
  const say = localizer(updateText);
  const t = (key: (typeof labels)[number]) => `{{meta.texts.${key}}}`;
  const text = (key: string): ViewNode => ({ type: 'text', text: `{{state.${key}}}` });
  const button = (order: Order): ViewNode => ({
    type: 'button',
    label: t(buttons[order]),
    ...(order === 'check' ? { icon: 'refresh' } : {}),
    action: { type: 'http.post', path: `/skills/updates/v1/${order}`, body: {} },
  });
  const orders = (Object.keys(buttons) as Order[]).filter((o) => s.can.includes(o));
  const metrics: ViewNode = {
    type: 'row',
    gap: 8,
    children: [
      { type: 'metric', label: t('current'), value: '{{state.version}}' },
      ...(s.supported ? [{ type: 'metric', label: t('available'), value: '{{state.offer}}' }] : []),
      ...(s.supported ? [{ type: 'metric', label: t('previous'), value: '{{state.previous}}' }] : []),
    ],
  };
  return {
    schema: 'ui/v0',
    meta: { title: t('title'), texts: Object.fromEntries(labels.map((key) => [key, say(key)])) },
    layout: {
      type: 'stack',
      gap: 12,
      children: [
        { type: 'title', text: '{{state.headline}}' },
        metrics,
        ...(s.progress ? [{ type: 'metric', label: '{{state.step}}', value: '{{state.percent}}' }] : []),
        ...(s.trouble ? [{ type: 'card', child: text('trouble') }] : []),
        ...(s.result ? [text('result')] : []),
        ...(s.notes ? [{ type: 'card', title: t('notes'), child: text('notes') }] : []),
        ...(s.supported ? [text('checked')] : []),
        ...(orders.length > 0
          ? [{ type: 'row', gap: 8, justify: 'end', children: orders.map(button) } as ViewNode]
          : []),
      ],
    },
  };
}
