// Every size and time that two sides must agree on.

/** Largest JSON request body, bytes. */
export const MAX_BODY = 64 * 1024;
/** Deepest nesting of a JSON body. */
export const MAX_DEPTH = 32;
/** Largest relay frame, bytes; a Noise message is at most 65535 (Noise rev 34, section 3). */
export const MAX_FRAME = 64 * 1024 - 1;
/** Largest plaintext in a channel's message, bytes: a frame less kind, epoch and seal. */
export const MAX_MESSAGE = MAX_FRAME - 2 - 16;
/** A frame that carries nothing, bytes: a sign of life. */
export const EMPTY_FRAME = 2 + 16;
/** Largest piece of a stream in one tunnel message, bytes. */
export const CHUNK = 16 * 1024;
/** Bytes a stream's sender may have under way before it waits for credit. */
export const WINDOW = 256 * 1024;
/** Streams one channel may have open at once. */
export const MAX_STREAMS = 64;

/** Hubs a subnet has at most beside the one that leads it. */
export const MOST_MEMBERS = 15;

/** Device code lifetime, seconds. */
export const DEVICE_CODE_TTL = 600;
/** Wrong codes a sid may try before it is refused. */
export const CODE_TRIES_PER_SID = 5;
/** Codes an IP may try a minute. */
export const CODE_TRIES_PER_IP_MINUTE = 20;
/** Failures after which the hub burns a pairing code. */
export const PAIRING_TRIES = 3;

/** Times a browser sends its one proof of a typed code before it takes silence for an answer. */
export const PROOF_SENDS = 5;

/** Session token: absolute and idle lifetime, seconds. */
export const SESSION_TTL = 12 * 3600;
export const SESSION_IDLE = 2 * 3600;
/** How long a command line that was let in stays so, seconds. */
export const COMMAND_LINE_TTL = 3600;
/** WebAuthn challenge lifetime, seconds. */
export const CHALLENGE_TTL = 300;
/** Hub certificate lifetime, seconds; renewed at two thirds. */
export const CERTIFICATE_TTL = 90 * 86400;
/** Lifetime of a hub's proof token, seconds. */
export const PROOF_TTL = 60;
/** Noise sessions are shaken hands anew after this, milliseconds. */
export const REHANDSHAKE_MS = 3600_000;
/** How long a checked passkey assertion opens admin skills to a browser, seconds. */
export const ELEVATION_TTL = 12 * 3600;
