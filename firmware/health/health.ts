// Whether a version that runs on trial is well enough to be kept. Pure.
import type { CheckName, Facts } from './findings.ts';

/**
 * What keeps this version from being well, empty when nothing does: the hub's services answer, none has failed, root
 * is reached or never was, sound and Wi-Fi start and answer. A missing radio or speaker is no fault of a version.
 * @param isHub a hub's own system, where sound, Wi-Fi and systemd must be there
 */
export function unwell(f: Facts, isHub: boolean): CheckName[] {
  const answers = (seen: Facts['audio'] | Facts['wifi'] | Facts['units']) =>
    seen === undefined ? !isHub : 'value' in seen;
  const failed = f.units && 'value' in f.units && f.units.value.some((u) => u.failed);
  const missing =
    !f.bus ||
    'why' in f.bus ||
    f.bus.value.wanted.some((n) => !(f.bus as { value: { taken: string[] } }).value.taken.includes(n));
  const link = f.link && 'value' in f.link ? f.link.value : undefined;
  const wrong: [CheckName, boolean][] = [
    ['units', !answers(f.units) || failed === true],
    ['bus', missing],
    ['api', !f.api || 'why' in f.api],
    ['link', !link || (link.enrolled && !link.connected)],
    ['audio', !answers(f.audio)],
    ['wifi', !answers(f.wifi)],
  ];
  return wrong.flatMap(([name, is]) => (is ? [name] : []));
}
