// Two providers: how each is asked, and its answer as a report. Pure.
import { faultsOf } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { type Conditions, cut, type Place, type Report, weatherSchema } from './report.ts';

export interface Provider {
  id: string;
  /** Whom the data is of, as its licence asks (both CC BY 4.0). */
  credit: string;
  url(p: Place): string;
  /** @throws IngleError `unavailable` for an answer of another form */
  read(json: unknown, now: number): Report;
}

/** How far a report looks ahead, and the longest step of a forecast, milliseconds. */
const [AHEAD, STEP] = [24 * 3_600_000, 6 * 3_600_000];
const odd = () => new IngleError('unavailable', 'The weather service answered in a form that is not known.');

/** A report from points in order of time: the last that has begun, and those of the day after it. */
function reportOf(points: { at: number; temp_c: number; conditions: Conditions }[], now: number): Report {
  const first = Math.max(
    0,
    points.findLastIndex((p) => p.at <= now),
  );
  if (first === points.length - 1 && points[first]!.at < now - STEP)
    throw new IngleError('unavailable', 'The weather service answered with a forecast that is over.');
  // Days ahead the steps are hours apart: so many hours, and not so many steps.
  const [here, ...later] = points
    .slice(first)
    .filter((p, i) => i === 0 || p.at <= now + AHEAD)
    .map(({ at, ...p }) => ({ ts: new Date(at).toISOString(), ...p }));
  const report = { ...here!, forecast: later };
  if (!here || faultsOf(weatherSchema, { ...report, place: '-' }).length > 0) throw odd();
  return report;
}

/** MET Norway's symbol codes: "lightrainshowers_day". */
function ofSymbol(code: string): Conditions {
  if (code.includes('thunder')) return 'thunder';
  if (/snow|sleet/.test(code)) return 'snow';
  if (code.includes('rain')) return 'rain';
  if (code.startsWith('fog')) return 'fog';
  if (/^(clearsky|fair)/.test(code)) return 'clear';
  return code.startsWith('partlycloudy') ? 'partly_cloudy' : 'cloudy';
}

/** WMO code table 4677, as Open-Meteo uses it. */
function ofWmo(code: number): Conditions {
  if (code >= 95) return 'thunder';
  if ((code >= 71 && code <= 77) || code === 85 || code === 86) return 'snow';
  if (code >= 51) return 'rain';
  if (code >= 45) return 'fog';
  return code <= 1 ? 'clear' : code === 2 ? 'partly_cloudy' : 'cloudy';
}

interface MetStep {
  time: string;
  data: {
    instant: { details: { air_temperature: number } };
    next_1_hours?: { summary: { symbol_code: string } };
    next_6_hours?: { summary: { symbol_code: string } };
  };
}

/** What reads an answer of somebody else: any fault in its form is one error. */
const reading =
  (read: (json: never, now: number) => Report): Provider['read'] =>
  (json, now) => {
    try {
      return read(json as never, now);
    } catch (e) {
      throw e instanceof IngleError ? e : odd();
    }
  };

/** https://api.met.no/weatherapi/locationforecast/2.0/documentation */
const met: Provider = {
  id: 'met',
  credit: 'MET Norway',
  url: ({ lat, lon }) =>
    `https://api.met.no/weatherapi/locationforecast/2.0/compact?lat=${cut(lat)}&lon=${cut(lon)}`,
  read: reading((json: { properties: { timeseries: MetStep[] } }, now) =>
    reportOf(
      json.properties.timeseries.flatMap(({ time, data: { instant, next_1_hours, next_6_hours } }) => {
        const symbol = (next_1_hours ?? next_6_hours)?.summary.symbol_code;
        const temp_c = instant.details.air_temperature;
        return symbol ? [{ at: Date.parse(time), temp_c, conditions: ofSymbol(symbol) }] : [];
      }),
      now,
    ),
  ),
};

/** null: the model that is asked has no value for that hour, or none yet. */
interface OpenMeteoHours {
  time: number[];
  temperature_2m: (number | null)[];
  weather_code: (number | null)[];
}

/** https://open-meteo.com/en/docs */
const openMeteo: Provider = {
  id: 'open-meteo',
  credit: 'Open-Meteo.com',
  url: ({ lat, lon }) =>
    `https://api.open-meteo.com/v1/forecast?latitude=${cut(lat)}&longitude=${cut(lon)}&hourly=temperature_2m,weather_code&forecast_days=3&timeformat=unixtime`,
  read: reading(({ hourly }: { hourly: OpenMeteoHours }, now) =>
    reportOf(
      hourly.time.flatMap((s, i) => {
        const [temp_c, code] = [hourly.temperature_2m[i], hourly.weather_code[i]];
        return temp_c == null || code == null ? [] : [{ at: s * 1000, temp_c, conditions: ofWmo(code) }];
      }),
      now,
    ),
  ),
};

export const providers: readonly Provider[] = [met, openMeteo];

/** https://open-meteo.com/en/docs/geocoding-api */
export const geocoderUrl = (name: string, language: string): string =>
  `https://geocoding-api.open-meteo.com/v1/search?count=1&language=${language}&name=${encodeURIComponent(name)}`;

/** The first place a geocoder found; undefined: none. */
export function readPlace(json: unknown): Place | undefined {
  const [r] =
    (json as { results?: { name: string; latitude: number; longitude: number }[] } | null)?.results ?? [];
  if (typeof r?.name !== 'string' || !Number.isFinite(r.latitude) || !Number.isFinite(r.longitude))
    return undefined;
  return { name: r.name.slice(0, 100), lat: r.latitude, lon: r.longitude };
}
