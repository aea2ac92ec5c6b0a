// `ingle setup …`: where first-run setup stands, and starting or ending it by hand.
import { setup1 } from '../../../firmware/setup/contract.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';

export async function setupStatus(bus: Bus, say: Say): Promise<void> {
  const s = await bus.client(setup1).Status({});
  say.event({ state: s.state, mode: s.mode, attempts: s.attempts, ...s.detail });
  say.line(say.text('setupState', { state: s.state }));
  for (const [name, value] of Object.entries(s.detail))
    if (value !== '')
      say.line(`  ${name.padEnd(14)}${plain(Array.isArray(value) ? value.join(', ') : String(value))}`);
}

export async function restartSetup(bus: Bus, say: Say): Promise<void> {
  await bus.client(setup1).Restart({ channel: 'cli' });
  say.event({ restarted: true });
  say.line(say.text('setupRestarted'));
}

export async function finishSetup(bus: Bus, say: Say): Promise<void> {
  await bus.client(setup1).Finish({ channel: 'cli' });
  say.event({ finished: true });
  say.line(say.text('setupFinished'));
}
