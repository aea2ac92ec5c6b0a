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

/** Pieces of a path, or of a query, that a router, a decoder or a log may stumble over. */
export const segments = [
  '',
  '.',
  '..',
  '%00',
  '%2e%2e',
  '%',
  '%zz',
  '%ff',
  '%F0%9F',
  'x'.repeat(600),
  '*',
  ';',
  '{id}',
  '__proto__',
];

/** Methods, those that nobody has among them. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get', 'BREW'];
