// When is night: 03:00 to 05:00 of the hub's own time zone. Pure.

const FROM = 3;
const TO = 5;

export function isNight(at: Date): boolean {
  return at.getHours() >= FROM && at.getHours() < TO;
}

/** When the next night begins, or `at` itself within one. */
export function nextNight(at: Date): Date {
  if (isNight(at)) return at;
  const next = new Date(at);
  next.setHours(FROM, 0, 0, 0);
  if (next <= at) next.setDate(next.getDate() + 1);
  return next;
}
