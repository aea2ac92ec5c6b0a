// How long an answer of a service may take.

/** Services that have to be started first take longer on a slow hub, milliseconds. */
export const ASK_MS = 15_000;
/** To join a network, or to test the sound. */
export const WORK_MS = 130_000;
