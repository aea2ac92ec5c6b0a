declare module '*.css' {
  /** Settled when the style sheet, which came with the module that imports it, is there. */
  export const sheet: Promise<unknown>;
}
