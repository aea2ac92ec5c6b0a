// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// A scenario that has something of everything, for tests that end it anywhere.
const undo = (text: string) => ({ compensate: { call: 'test.undo', args: { text } } });
const does = (id: string, text: string, more: object = {}) => ({
  id,
  call: 'test.do',
  args: { text },
  ...more,
});

/** Retries, locks, loops, waits of three kinds, something that must not be said twice, compensation. */
export const whole = (last: object[]): object[] => [
  does('first', 'a', {
    alias: 'a',
    set: { n: '${params.n + 1}' },
    locks: ['mic'],
    ...undo('first ${result}'),
  }),
  { id: 'flaky', call: 'test.flaky', retries: { max: 3, backoff: 'exp:1s..1m' }, ...undo('flaky') },
  {
    name: 'both',
    locks: ['tts'],
    do: [
      { id: 'loud', do: 'say', text: 'n is ${vars.n}' },
      { do: 'for', each: '[1, 2]', as: 'i', steps: [does('round', '${i}', undo('round ${i}'))] },
      { id: 'nap', do: 'delay', for: '90s' },
    ],
  },
  { id: 'door', do: 'wait_for', topic: 'door.state', where: '$.payload.open', timeout: '2h' },
  { id: 'warm', do: 'held_for', topic: 'room.temp', where: '$.payload.t > 20', for: '1m' },
  does('then', '${steps.door.result.by} ${a}'),
  ...last,
];
