// Whom setup speaks for, and how far it is (Setup1.Progress).
import type { Language } from '../text/i18n.ts';
import type { SetupText } from '../text/setup.ts';

export type Step = 'audio' | 'wifi' | 'softap' | 'ble' | 'serial' | 'bot' | 'pairing';
export type StepState = 'start' | 'running' | 'ok' | 'failed';
export type Progress = (
  step: Step,
  state: StepState,
  text: SetupText,
  detail: Record<string, unknown>,
) => void;

/** Name, serial number and printed label secrets of this device. */
export interface Device {
  name: string;
  serial: string;
  language: Language;
  label?: { psk: string; pin: string };
}
