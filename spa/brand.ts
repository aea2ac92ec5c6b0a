// The maker's name and colours, told by the hub and remembered for the next start.
import { type Brand, noBrand, paint } from '../firmware/text/brand.ts';
import { app, set } from './store.ts';
import { isDark } from './theme.ts';

const key = 'ingle.brand';
const dark = matchMedia('(prefers-color-scheme: dark)');
const names = { accent: '--accent', strong: '--accent-2', on: '--on-accent', tint: '--tint' };

/** Shows the maker's colours, of the day or of the night. */
export function paintBrand(): void {
  const { style } = document.documentElement;
  paint(app().brand, isDark(), names, (name, value) => style.setProperty(name, value));
}

function take(brand: Brand): void {
  set({ brand });
  paintBrand();
}

/** Shows the brand of last time, so that a start does not change colours. */
export function startBrand(): void {
  dark.addEventListener('change', paintBrand);
  try {
    const kept = localStorage.getItem(key);
    if (kept) take({ ...noBrand, ...(JSON.parse(kept) as Partial<Brand>) });
  } catch {}
}

/** Shows what the hub answered, and keeps it. */
export function takeBrand(told: Partial<Brand>): void {
  const brand = { ...noBrand, ...told };
  take(brand);
  try {
    localStorage.setItem(key, JSON.stringify(brand));
  } catch {}
}

export function forgetBrand(): void {
  take(noBrand);
  try {
    localStorage.removeItem(key);
  } catch {}
}
