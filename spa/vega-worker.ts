// The worker that draws charts in Vega-Lite: without `eval`, by an interpreter, and loading nothing. It sees no page, and
// gives it a drawing as data.
import './vega-canvas.ts';
import { parse, resetSVGDefIds, View } from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, type TopLevelSpec } from 'vega-lite';
import { safeText } from '../firmware/ui/vega.ts';
import { inHours, localeOf } from './vega-locale.ts';
import { partsOf } from './vega-svg.ts';
import type { Order } from './vega-thread.ts';

// The DOM's types and a worker's cannot be in one program; this is what is used of the latter.
const page = globalThis as unknown as {
  onmessage: (e: { data: Order }) => void;
  postMessage(what: unknown): void;
};

/** The name of its data among those of the drawing. */
const ROWS = 'ingle_rows';

/** Nothing is loaded, whatever asks. */
const nowhere = () => Promise.reject(new Error('A chart loads nothing.'));
const loader = { options: {}, load: nowhere, sanitize: nowhere, http: nowhere, file: nowhere };

/** What is worked out of data is data as well. */
const interpreter = {
  ...expressionInterpreter,
  parameter(...of: Parameters<typeof expressionInterpreter.parameter>) {
    const worked = expressionInterpreter.parameter(...of);
    return (...given: Parameters<typeof worked>) => safeText(worked(...given));
  },
};

/** Faults of a drawing that is under way. */
const logger = (fault: () => void) => {
  const it = {
    level: () => it,
    ...{ warn: () => it, info: () => it, debug: () => it },
    error: () => {
      fault();
      return it;
    },
  };
  return it as never;
};

/** @throws what Vega-Lite says of a specification that is none, and where the drawing fails */
async function svgOf({ spec, rows, config, width, height, language }: Order): Promise<string> {
  const faults: true[] = [];
  const log = logger(() => faults.push(true));
  const whole = {
    ...spec,
    ...{ width, height, autosize: { type: 'fit', contains: 'padding' }, data: { name: ROWS } },
  } as unknown as TopLevelSpec;
  const compiled = compile(whole, { config, logger: log }).spec;
  const view = new View(parse(compiled, undefined, { ast: true }), {
    ...{ expr: interpreter, renderer: 'none', loader, logger: log, locale: localeOf(language) },
  } as never);
  const own = view as unknown as { locale(to?: unknown): never };
  own.locale(inHours(own.locale(), language));
  resetSVGDefIds();
  const svg = await view.data(ROWS, JSON.parse(rows)).toSVG();
  view.finalize();
  if (faults.length > 0) throw new Error('The drawing failed.');
  return svg;
}

page.onmessage = async ({ data }) => {
  try {
    for (const part of partsOf(await svgOf(data))) page.postMessage(part);
    page.postMessage('drawn');
  } catch {
    page.postMessage('fault');
  }
};
page.postMessage('ready');
