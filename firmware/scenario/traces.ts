// Runs as traces: a span for the run, one in it for each try of a step. What a step was given or answered stays here.
import { type Exporter, type ExporterOptions, openExporter } from '../observe/exporter.ts';
import type { Family } from '../observe/exposition.ts';
import { type AttributeValue, type Span, spanId } from '../observe/otlp.ts';
import type { Tell } from './live.ts';

const isTrace = (id: unknown): id is string =>
  typeof id === 'string' && /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id);

/** The span that an event ends; undefined for an event that ends none. @param now Unix milliseconds */
export function spanOf(event: string, p: Readonly<Record<string, unknown>>, now: number): Span | undefined {
  const { trace_id, run_id, scenario_id, step, seq, action, attempt, state, latency_ms } = p;
  if (!isTrace(trace_id)) return undefined;
  const text = (v: unknown): string => String(v ?? '');
  const start = now - (typeof latency_ms === 'number' ? latency_ms : 0);
  const run = spanId(text(run_id));
  const of: Record<string, AttributeValue> = {
    'ingle.run_id': text(run_id),
    'ingle.scenario': text(scenario_id),
  };
  if (event === 'scenario.finish')
    return {
      ...{ trace_id, span_id: run, name: `run ${text(scenario_id)}`, start, end: now },
      attributes: { ...of, 'ingle.state': text(state) },
      ...(state === 'DONE' ? {} : { error: codeOf(p['error']) ?? text(state).toLowerCase() }),
    };
  if (event !== 'step.finish' && event !== 'step.error') return undefined;
  return {
    ...{ trace_id, span_id: spanId(`${text(run_id)}/${text(step)}/${text(seq)}/${text(attempt)}`) },
    ...{ parent: run, name: `step ${text(step)}`, start, end: now },
    attributes: {
      ...of,
      'ingle.step': text(step),
      'ingle.action': text(action),
      'ingle.attempt': Number(attempt),
    },
    ...(event === 'step.error' ? { error: text(p['error']) } : {}),
  };
}
/** Of a failure only its code: its words may repeat what the step was given. */
function codeOf(error: unknown): string | undefined {
  const code = (Object(error) as { code?: unknown }).code;
  return typeof code === 'string' ? code : undefined;
}

export interface Traces extends Pick<Exporter, 'counts' | 'stop'> {
  tell: Tell;
  families(): Family[];
}

export function openTraces(o: ExporterOptions): Traces {
  const { add, counts, stop } = openExporter(o);
  return {
    ...{ counts, stop },
    families() {
      const { sent, dropped } = counts();
      const samples = Object.entries({ sent, dropped }).map(([outcome, value]) => ({
        labels: { outcome },
        value,
      }));
      const help = 'Spans for the collector: those it took, and those that were dropped.';
      return [{ name: 'ingle_otlp_spans_total', type: 'counter', help, samples }];
    },
    tell(event, properties) {
      const span = spanOf(event, properties, o.clock.wall());
      if (span) add(span);
    },
  };
}
