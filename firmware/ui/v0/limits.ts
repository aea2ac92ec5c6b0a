// How much one view of ui/v0 may hold: a phone must be able to draw it.
export const limits = {
  nodes: 2000,
  /** Of nodes in nodes. */
  nesting: 24,
  /** Characters of one text. */
  text: 4000,
  series: 12,
  columns: 50,
  options: 200,
  fields: 12,
  tabs: 12,
  /** Of data in an action. */
  depth: 32,
  /** Problems that are told; those beyond are marked without words. */
  problems: 100,
} as const;
