// A skill with two actions: one that adds, and one that never answers.
import type { Manifest } from '../../firmware/skills/manifest.ts';

export const clerk = (id: string, ownerOnly = false): Manifest => ({
  id,
  version: '1.0.0',
  capabilities: {
    visual: true,
    ui: { title: 'Clerk', modes: ['modal'], schema: 'ui/v0' },
    actions: {
      add: {
        title: 'Add',
        titles: { ru: 'Прибавить' },
        doc: 'Adds to the sum.',
        input: {
          type: 'object',
          properties: {
            n: { type: 'integer', minimum: 1, maximum: 100 },
            unit: { type: 'string', enum: ['piece', 'kg'] },
          },
          required: ['n'],
          additionalProperties: false,
        },
        safe: false,
      },
      never: {
        title: 'Never',
        doc: 'Does not come to an end.',
        input: { type: 'object', properties: {}, additionalProperties: false },
        safe: true,
      },
    },
  },
  ...(ownerOnly ? { permissions: { ownerOnly } } : {}),
});

export const clerkCode = `
let sum = 0;
export const skill = { start: () => ({ endpoints: [
  { method: 'GET', path: '/v1/seen', answer: () => ({ body: { n: sum } }) },
  { method: 'POST', path: '/v1/actions/add', answer: ({ body }) => ({ body: { sum: sum += body.n } }) },
  { method: 'POST', path: '/v1/actions/never', answer: () => new Promise(() => {}) },
] }) };`;

/** What a hub is started with that has a clerk for everybody and one for its owner. */
export const twoClerks = {
  installed: [
    { manifest: clerk('clerk'), code: { text: clerkCode } },
    { manifest: clerk('safe', true), code: { text: clerkCode } },
  ],
  skills: ['clerk', 'safe'],
};
