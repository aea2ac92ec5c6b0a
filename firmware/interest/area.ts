// Circles on the globe, and whether one covers another. Pure.
import type { Area } from './wanted.ts';

/** Mean radius of the Earth, km (IUGG). */
const EARTH_KM = 6371.0088;
const rad = (degrees: number) => (degrees * Math.PI) / 180;

/** Great-circle distance, km (haversine). */
export function distanceKm(a: Area, b: Area): number {
  const h =
    Math.sin(rad(b.lat - a.lat) / 2) ** 2 +
    Math.cos(rad(a.lat)) * Math.cos(rad(b.lat)) * Math.sin(rad(b.lon - a.lon) / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Whether all of `b` lies in `a`. Without an area a stream is about no place, and covers only another such. */
export function covers(a: Area | undefined, b: Area | undefined): boolean {
  if (!a || !b) return a === b;
  return distanceKm(a, b) + b.radius_km <= a.radius_km;
}
