// What this browser is called in the hub's list: a name its owner knows it by, to be changed at will.
import { t } from './text.ts';

interface Hints {
  getHighEntropyValues(names: string[]): Promise<{ model?: string; platform?: string }>;
}

/** `Pixel 8, Chrome`; `iPhone, Safari`; `Linux computer, Firefox`. Client hints tell the model where there are any. */
export async function browserName(): Promise<string> {
  const ua = navigator.userAgent;
  const browser = /Edg|Firefox|OPR|Chrome|Safari/.exec(ua)?.[0];
  const { userAgentData } = navigator as { userAgentData?: Hints };
  const hints = await userAgentData?.getHighEntropyValues(['model', 'platform']).catch(() => undefined);
  const known =
    /iPhone|iPad|Android|CrOS|Windows|Mac|Linux/.exec(`${hints?.platform ?? ''} ${ua}`)?.[0] ?? '';
  const kind = {
    Android: t('device_phone'),
    CrOS: 'Chromebook',
    Windows: t('device_of', { system: 'Windows' }),
    Linux: t('device_of', { system: 'Linux' }),
    '': t('device'),
  };
  const device = hints?.model || (kind as Record<string, string>)[known] || known;
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser ?? ''] ?? browser;
  return name ? `${device}, ${name}` : device;
}
