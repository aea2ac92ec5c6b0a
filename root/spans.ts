// Spans as OTLP has them over HTTP in JSON (opentelemetry-proto, trace.proto), and the header that joins traces (W3C Trace
// Context). The hub has its own writer (firmware/observe), which root may not import.

/** Where a span stands. Ids are hexadecimal digits, 32 and 16. */
export interface Place {
  trace_id: string;
  span_id: string;
}

export interface Span extends Place {
  /** '' for the first of a trace. */
  parent: string;
  name: string;
  /** `server`: a request that came; `client`: something that was asked for. */
  kind: 'server' | 'client';
  /** Unix milliseconds. */
  start: number;
  end: number;
  attributes: Readonly<Record<string, string | number>>;
  /** A stable code of what went wrong; '' for nothing. */
  error: string;
}

/** The place a `traceparent` names, and whether its trace is recorded; null where it names none. */
export function parentOf(traceparent: string): (Place & { isRecorded: boolean }) | null {
  // A later version may have more behind the flags; version ff is none (section 3.2.2.1).
  const [, version, trace_id = '', span_id = '', flags = '', more] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(trace_id) || /^0+$/.test(span_id)) return null;
  return { trace_id, span_id, isRecorded: (Number.parseInt(flags, 16) & 1) === 1 };
}

const kinds = { server: 2, client: 3 };
const [UNSET, ERROR] = [0, 2];

/** Numbers are 64-bit integers, which the JSON of protocol buffers has as texts. */
const anyValue = (v: string | number) =>
  typeof v === 'string' ? { stringValue: v } : { intValue: String(v) };
const attributesOf = (of: Readonly<Record<string, string | number>>) =>
  Object.entries(of).map(([key, value]) => ({ key, value: anyValue(value) }));
const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);

/** An ExportTraceServiceRequest. */
export function exportRequest(service: string, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [
          {
            scope: { name: service },
            spans: spans.map((s) => ({
              traceId: s.trace_id,
              spanId: s.span_id,
              ...(s.parent === '' ? {} : { parentSpanId: s.parent }),
              name: s.name,
              kind: kinds[s.kind],
              startTimeUnixNano: nanos(s.start),
              endTimeUnixNano: nanos(Math.max(s.start, s.end)),
              attributes: attributesOf(
                s.error === '' ? s.attributes : { ...s.attributes, 'error.type': s.error },
              ),
              status: { code: s.error === '' ? UNSET : ERROR },
            })),
          },
        ],
      },
    ],
  };
}
