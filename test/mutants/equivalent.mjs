/** @type {Record<string, { line: string, of?: string, to?: string, why: string }[]>} */
export const equivalent = {};
