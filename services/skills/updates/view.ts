// The screen of `updates` as ui/v0: it changes with the state, as each step offers other buttons. Pure.
import { press, row, screen } from '../../../firmware/skills/screen.ts';
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

/** What is shown changes with the state. */
export function updatesView(s: Shown): View {
  const text = (key: string): ViewNode => ({ type: 'text', text: `{{state.${key}}}` });
  const orders = (Object.keys(buttons) as Order[]).filter((o) => s.can.includes(o));
  return screen(updateText, (t) => {
    const button = (order: Order) =>
      press(t(buttons[order]), `/skills/updates/v1/${order}`, order === 'check' ? { icon: 'refresh' } : {});
    return [
      { type: 'title', text: '{{state.headline}}' },
      row([
        { type: 'metric', label: t('current'), value: '{{state.version}}' },
        ...(s.supported ? [{ type: 'metric', label: t('available'), value: '{{state.offer}}' }] : []),
        ...(s.supported ? [{ type: 'metric', label: t('previous'), value: '{{state.previous}}' }] : []),
      ]),
      ...(s.progress ? [{ type: 'metric', label: '{{state.step}}', value: '{{state.percent}}' }] : []),
      ...(s.trouble ? [{ type: 'card', child: text('trouble') }] : []),
      ...(s.result ? [text('result')] : []),
      ...(s.notes ? [{ type: 'card', title: t('notes'), child: text('notes') }] : []),
      ...(s.supported ? [text('checked')] : []),
      ...(orders.length > 0 ? [row(orders.map(button), { justify: 'end' })] : []),
    ];
  });
}
