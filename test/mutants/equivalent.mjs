// Mutants that no test can notice, one by one, each with the reason. They do not count.
/**
 * A mutant is meant by a piece of its line, and by what is changed (`of`) and into what (`to`) where that is needed.
 * @type {Record<string, { line: string, of?: string, to?: string, why: string }[]>}
 */
export const equivalent = {
  'firmware/protocol/noise/noise.ts': [
    { line: "'AES-GCM', false, [", of: 'false', why: 'the key object never leaves the closure' },
    { line: '.catch(() => null)', of: '() => null', why: 'null and undefined are asked for by !plain' },
    { line: '() => false,', of: '() => false', why: 'false and undefined are asked for by if' },
    { line: 'name.length > 32', to: 'false', why: 'both names have at most 32 characters' },
    {
      line: "token === 'ee' ? 'e' : 's'",
      of: "token === 'ee'",
      to: 'false',
      why: 'the next lines ask for ee',
    },
    { line: "token === 'ee' ? 'e' : 's'", of: "'ee'", why: 'the next lines ask for ee' },
    { line: "token === 'ee' ? 'e' : 's'", of: "'s'", why: 'it is asked only whether it is e' },
    { line: "token === 'ss' ? o.s :", of: "token === 'ee'", to: 'false', why: 'own is e for ee' },
    { line: "token === 'ss' ? o.s :", of: "'ee'", why: 'own is e for ee' },
    { line: 'rest.length < n', to: 'false', why: 'what is cut fails at its seal, as the same error' },
    { line: 'rest.length < n', to: 'rest.length <= n', why: 'a seal follows each part' },
  ],
  'firmware/protocol/noise/x25519.ts': [
    {
      line: 'algorithm, false, [',
      of: 'false',
      why: 'the key object never leaves the closure, or is public',
    },
    { line: '.catch(() => null)', of: '() => null', why: 'null and undefined are asked for by !bits' },
  ],
  'firmware/protocol/noise/seal.ts': [
    { line: "'AES-GCM', false, [", of: 'false', why: 'the key object never leaves the closure' },
    {
      line: 'sealed.length !== SEALED',
      to: 'false',
      why: 'another length fails at the seal, as the same error',
    },
  ],
  'root/codes.ts': [{ line: "let digits = '';", of: "''", why: 'a draw comes before it is read' }],
  'root/records/rules.ts': [
    {
      line: 'after > 0 || before > 0',
      of: 'after > 0',
      to: 'false',
      why: 'with before 0 it is no less anyway',
    },
  ],
};
