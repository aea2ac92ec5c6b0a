// What a skill is asked for, as its author sees it: types only, as they leave the house with the SDK.

/** A circle on the globe. */
export interface Area {
  /** Degrees, WGS 84. */
  lat: number;
  lon: number;
  radius_km: number;
}

/** What a skill has to tell: one stream for all who asked for it or for less of it. */
export interface Wanted {
  topic: string;
  area?: Area;
  /** A hint of who asks. */
  format?: string;
  /** The shortest that anybody asks for, milliseconds. */
  period_ms: number;
  /** When the last of those who ask ends, milliseconds since 1970. */
  until: number;
}
