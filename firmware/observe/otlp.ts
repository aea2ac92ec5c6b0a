// Spans as OTLP has them over HTTP in JSON (opentelemetry-proto, trace.proto; OTLP specification, "JSON Protobuf
// Encoding"). Pure.
import { createHash } from 'node:crypto';

export type AttributeValue = string | number | boolean;

/** Something that took from `start` to `end`, Unix milliseconds. */
export interface Span {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** 16. */
  span_id: string;
  parent?: string;
  name: string;
  start: number;
  end: number;
  attributes: Readonly<Record<string, AttributeValue>>;
  /** A stable code of what went wrong; no sentence, as those may repeat what a step was given. */
  error?: string;
}

/** The same id for the same thing, also after a restart: 16 hexadecimal digits, not all zero. */
export function spanId(name: string): string {
  const id = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return id === '0'.repeat(16) ? `${'0'.repeat(15)}1` : id;
}

const INTERNAL = 1;
const [UNSET, ERROR] = [0, 2];

function anyValue(v: AttributeValue): object {
  if (typeof v === 'string') return { stringValue: v };
  if (typeof v === 'boolean') return { boolValue: v };
  // 64-bit integers are texts in the JSON of protocol buffers.
  return Number.isInteger(v) ? { intValue: String(v) } : { doubleValue: v };
}
const attributesOf = (of: Readonly<Record<string, AttributeValue>>) =>
  Object.entries(of).map(([key, value]) => ({ key, value: anyValue(value) }));
const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);

/** An ExportTraceServiceRequest. */
export function exportRequest(
  resource: Readonly<Record<string, AttributeValue>>,
  scope: { name: string; version: string },
  spans: readonly Span[],
): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [
          {
            scope,
            spans: spans.map(({ trace_id, span_id, parent, name, start, end, attributes, error }) => ({
              traceId: trace_id,
              spanId: span_id,
              ...(parent === undefined ? {} : { parentSpanId: parent }),
              name,
              kind: INTERNAL,
              startTimeUnixNano: nanos(start),
              endTimeUnixNano: nanos(Math.max(start, end)),
              attributes: attributesOf(
                error === undefined ? attributes : { ...attributes, 'error.type': error },
              ),
              status: error === undefined ? { code: UNSET } : { code: ERROR, message: error },
            })),
          },
        ],
      },
    ],
  };
}
