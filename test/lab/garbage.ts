// What an endpoint may be sent at any field.

/** A value of every JSON type, and of each what is hardest to take. */
export const garbage: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  ' ',
  'x',
  '\u0000',
  '\ud800',
  '__proto__',
  'x'.repeat(5000),
  [],
  [null],
  ['x', 1.5],
  {},
  { a: { b: [null] } },
  { toString: null, length: -1 },
];
