// Root's records as tables. Times are Unix seconds.

/**
 * `session:web:{sid}` -> session_web, and so on; `online:hub` and `online:browser` live in memory, since a socket
 * does not outlive the process. Codes, tickets, hubs' addresses and cookies are kept as keyed hashes only. `code_taken`:
 * when the last code of a hub was taken. A hub is `kept` once a code of it was taken, or when its ids do not follow from
 * its key; `seen`: when it last came online. `ended_sid`: sids that are over and whose signature still holds. `member`: a
 * hub that leads to the hub `via` of its subnet; owner and subnet are those it had alone; `exp`: 0 once admitted.
 * `parted`: what the hub of the subnet has signed for one it let go. A passkey's `hub_id`: whose code it came by; `guest`: it is
 * not the owner's. `skill_page`: by the digest of its ticket's jti; `exp` is the ticket's until it is spent. `place` is
 * always a network cut short (`placeOf`), never an address. `audit`: an owner's trail, numbered by `n`. `handover`: a hub
 * whose owner offers it to another. A hub's `cert_exp`: when the last certificate given to it ends; `rotated`: when it
 * last got new keys. `command_line`: one that asks to be let in, by the digest of its device code; `code`: the typed one's
 * keyed hash. A session's `command`: what a command line called itself, '' for a browser; `name`: what its owner calls it.
 */
export const migrations = [
  `CREATE TABLE secret (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE owner (owner_id TEXT PRIMARY KEY, created INTEGER NOT NULL) STRICT;
CREATE TABLE subnet (subnet_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, created INTEGER NOT NULL) STRICT;
CREATE TABLE hub (hub_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, subnet_id TEXT NOT NULL,
  sign_pub TEXT NOT NULL UNIQUE, e2e_pub TEXT NOT NULL, created INTEGER NOT NULL) STRICT;
CREATE TABLE session_web (sid TEXT PRIMARY KEY, cookie TEXT NOT NULL, stage TEXT NOT NULL, owner_id TEXT,
  subnet_id TEXT, hub_id TEXT, browser_key_id TEXT, scope TEXT NOT NULL DEFAULT '', jti TEXT,
  tries INTEGER NOT NULL DEFAULT 0, tries_until INTEGER NOT NULL DEFAULT 0,
  last_seen INTEGER NOT NULL, exp INTEGER NOT NULL) STRICT;
CREATE INDEX session_of_key ON session_web (browser_key_id);
CREATE INDEX session_exp ON session_web (exp);
CREATE TABLE device_code (code TEXT PRIMARY KEY, owner_id TEXT NOT NULL, hub_id TEXT NOT NULL, scope TEXT NOT NULL,
  exp INTEGER NOT NULL, bind_sid TEXT) STRICT;
CREATE INDEX code_of_hub ON device_code (hub_id);
CREATE TABLE webauthn_cred (cred_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, browser_pubkey BLOB NOT NULL,
  sign_count INTEGER NOT NULL, browser_key_id TEXT NOT NULL UNIQUE, transports TEXT NOT NULL, backed_up INTEGER NOT NULL,
  created INTEGER NOT NULL, last_used INTEGER NOT NULL, went_back INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX cred_of_owner ON webauthn_cred (owner_id);
CREATE TABLE pairing_challenge (sid TEXT PRIMARY KEY, kind TEXT NOT NULL, challenge TEXT NOT NULL, exp INTEGER NOT NULL) STRICT;
CREATE TABLE e2e_browser_pub (sid TEXT PRIMARY KEY, pubkey TEXT NOT NULL, alg TEXT NOT NULL, exp INTEGER NOT NULL) STRICT;
CREATE TABLE route (sid TEXT PRIMARY KEY, hub_id TEXT NOT NULL, e2e TEXT NOT NULL, generation INTEGER NOT NULL,
  last_seen INTEGER NOT NULL) STRICT;
CREATE TABLE spent_proof (jti TEXT PRIMARY KEY, exp INTEGER NOT NULL) STRICT;`,
  `ALTER TABLE device_code ADD COLUMN network TEXT NOT NULL DEFAULT '';
ALTER TABLE device_code ADD COLUMN ticket TEXT NOT NULL DEFAULT '';
CREATE TABLE code_taken (hub_id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;`,
  `ALTER TABLE hub ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hub ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
UPDATE hub SET kept = 1;
CREATE INDEX hub_unused ON hub (kept, seen);
CREATE INDEX hub_of_owner ON hub (owner_id);
CREATE TABLE ended_sid (sid TEXT PRIMARY KEY, exp INTEGER NOT NULL) STRICT;`,
  `CREATE TABLE member (hub_id TEXT PRIMARY KEY, via TEXT NOT NULL, owner_id TEXT NOT NULL, subnet_id TEXT NOT NULL,
  exp INTEGER NOT NULL) STRICT;
CREATE INDEX member_via ON member (via);
CREATE TABLE parted (hub_id TEXT PRIMARY KEY, note TEXT NOT NULL) STRICT;
ALTER TABLE webauthn_cred ADD COLUMN hub_id TEXT NOT NULL DEFAULT '';`,
  'ALTER TABLE webauthn_cred ADD COLUMN guest INTEGER NOT NULL DEFAULT 0;',
  `CREATE TABLE skill_page (id TEXT PRIMARY KEY, sid TEXT NOT NULL, owner_id TEXT NOT NULL, hub_id TEXT NOT NULL,
  skill TEXT NOT NULL, exp INTEGER NOT NULL, spent INTEGER NOT NULL) STRICT;
CREATE INDEX skill_page_of_sid ON skill_page (sid);`,
  // A process that becomes the home of one hub reads that hub's routes.
  `CREATE INDEX route_of_hub ON route (hub_id);
CREATE INDEX session_of_hub ON session_web (hub_id);`,
  `ALTER TABLE session_web ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE webauthn_cred ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE hub ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE hub ADD COLUMN cert_exp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hub ADD COLUMN rotated INTEGER NOT NULL DEFAULT 0;
CREATE INDEX hub_expired ON hub (cert_exp);
CREATE INDEX session_of_owner ON session_web (owner_id);
CREATE TABLE handover (hub_id TEXT PRIMARY KEY, exp INTEGER NOT NULL) STRICT;
CREATE TABLE audit (id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL,
  what TEXT NOT NULL, browser_key_id TEXT, by_hub TEXT, place TEXT NOT NULL, about TEXT NOT NULL, name TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX audit_of_owner ON audit (owner_id, n);
CREATE INDEX audit_at ON audit (at);`,
  `ALTER TABLE session_web ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE session_web ADD COLUMN command TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN by_command TEXT NOT NULL DEFAULT '';
CREATE TABLE command_line (id TEXT PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL, network TEXT NOT NULL,
  place TEXT NOT NULL, state TEXT NOT NULL, owner_id TEXT, browser_key_id TEXT, asked INTEGER NOT NULL,
  polled INTEGER NOT NULL, exp INTEGER NOT NULL) STRICT;
CREATE INDEX command_line_exp ON command_line (exp);`,
] as const;
