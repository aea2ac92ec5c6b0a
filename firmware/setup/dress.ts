// The setup pages in the maker's colours and words, dressed by the hub that serves them: the pages stay small. Pure.
import { type Brand, paint } from '../text/brand.ts';

/** A page's file as it is served. */
export function dress(name: string, data: Buffer, brand: Brand): Buffer {
  if (name.endsWith('.css')) return Buffer.concat([data, Buffer.from(`\n${rules(brand)}`)]);
  if (!name.endsWith('.html') || Object.keys(brand.texts).length === 0) return data;
  const words = JSON.stringify(brand.texts).replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  return Buffer.from(data.toString().replace('<body', () => `<body data-words="${words}"`));
}

function rules(brand: Brand): string {
  const of = (dark: boolean) => {
    const set: string[] = [];
    paint(brand, dark, { accent: '--ember', on: '--on-ember' }, (name, value) => {
      if (value) set.push(`${name}:${value}`);
    });
    return set.length > 0 ? `:root{${set.join(';')}}` : '';
  };
  const [light, dark] = [of(false), of(true)];
  // One scheme alone leaves the other as it is.
  return [
    light && `@media (prefers-color-scheme: light){${light}}`,
    dark && `@media (prefers-color-scheme: dark){${dark}}`,
  ]
    .filter(Boolean)
    .join('\n');
}
