// The files on which trust hangs, each with the suites that must notice a change in it; `most`: a sample of so many
// mutants, where all would take long.
const protocol = (name) => `test/protocol/${name}.test.ts`;
const root = (name) => `test/root/${name}.test.ts`;
const uplink = (name) => `test/uplink/${name}.test.ts`;

export const targets = [
  { file: 'firmware/protocol/noise/noise.ts', suites: [protocol('noise')] },
  { file: 'firmware/protocol/pairing/cpace.ts', suites: [protocol('cpace')] },
  { file: 'firmware/protocol/noise/ed25519.ts', suites: [protocol('ed25519')] },
  { file: 'firmware/protocol/noise/x25519.ts', suites: [protocol('noise'), protocol('seal')] },
  { file: 'firmware/protocol/noise/seal.ts', suites: [protocol('seal')] },
  { file: 'firmware/protocol/pairing/assertion.ts', suites: [protocol('assertion')] },
  { file: 'firmware/protocol/pairing/ticket.ts', suites: [protocol('ticket')] },
  { file: 'firmware/protocol/noise/rotation.ts', suites: [uplink('keys')] },
  { file: 'firmware/protocol/noise/follow.ts', suites: [uplink('keys')] },
  { file: 'firmware/protocol/stage.ts', suites: [protocol('stage')] },
  {
    file: 'firmware/protocol/pairing/pairing.ts',
    suites: [protocol('hostile-root'), protocol('channel')],
    most: 20,
  },
  {
    file: 'firmware/protocol/noise/responder.ts',
    suites: [protocol('channel'), protocol('hostile-root')],
    most: 60,
  },
  {
    file: 'firmware/protocol/noise/initiator.ts',
    suites: [protocol('channel'), protocol('hostile-root')],
    most: 60,
  },
  ...['whom', 'attempts', 'typed', 'trials', 'shaking', 'epochs', 'pending'].map((piece) => ({
    file: `firmware/protocol/noise/${piece}.ts`,
    suites: [protocol('channel'), protocol('silent'), protocol('hostile-root')],
    most: 30,
  })),
  { file: 'firmware/protocol/noise/entrance.ts', suites: [protocol('entrance'), protocol('channel')] },
  { file: 'firmware/protocol/noise/control.ts', suites: [protocol('control')] },
  ...['papers', 'membership', 'invite'].map((piece) => ({
    file: `firmware/subnet/${piece}.ts`,
    suites: ['test/subnet/papers.test.ts'],
  })),
  { file: 'firmware/subnet/node.ts', suites: ['test/subnet/node.test.ts'] },
  {
    file: 'firmware/uplink/member-admission.ts',
    suites: [uplink('member-admission'), uplink('members')],
    most: 40,
  },
  { file: 'root/records/sql/members.ts', suites: ['test/root/records/sqlite.test.ts'] },
  { file: 'firmware/documents/acl.ts', suites: ['test/documents/acl.test.ts'] },
  { file: 'firmware/system/token.ts', suites: ['test/system/token.test.ts'] },
  { file: 'firmware/skills/budget.ts', suites: ['test/skills/budget.test.ts'] },
  { file: 'firmware/skills/publishers.ts', suites: ['test/skills/publishers.test.ts'] },
  {
    file: 'firmware/skills/tar.ts',
    suites: ['test/skills/hostile-archive.test.ts', 'test/skills/package.test.ts'],
    most: 30,
  },
  {
    file: 'firmware/skills/package.ts',
    suites: ['test/skills/package.test.ts', 'test/skills/hostile.test.ts'],
    most: 30,
  },
  {
    file: 'firmware/scenario-app/policy.ts',
    suites: ['test/scenario-app/policy.test.ts', 'test/scenario-app/compile.test.ts'],
  },
  { file: 'firmware/wifi/nft.ts', suites: ['test/wifi/config.test.ts'] },
  { file: 'firmware/update/version.ts', suites: ['test/update/rules.test.ts'], most: 40 },
  { file: 'firmware/update/offer.ts', suites: ['test/update/offer.test.ts'] },
  { file: 'firmware/setup/access.ts', suites: ['test/setup/access.test.ts'] },
  { file: 'firmware/setup/backoff.ts', suites: ['test/setup/backoff.test.ts'] },
  { file: 'firmware/uplink/headers.ts', suites: [uplink('headers')] },
  { file: 'firmware/uplink/token.ts', suites: [uplink('headers')] },
  { file: 'firmware/uplink/admission.ts', suites: [uplink('admission'), uplink('grants')], most: 60 },
  { file: 'firmware/uplink/standing.ts', suites: [uplink('admission'), uplink('grants')] },
  { file: 'firmware/uplink/pins.ts', suites: [uplink('pins'), uplink('grants')] },
  { file: 'firmware/uplink/proven.ts', suites: [uplink('pins'), uplink('grants')] },
  { file: 'firmware/uplink/grant.ts', suites: [uplink('grants')] },
  { file: 'firmware/uplink/passkey.ts', suites: [uplink('passkey'), uplink('admission')], most: 60 },
  { file: 'root/guesses.ts', suites: [root('typed')] },
  { file: 'root/records/rules.ts', suites: [root('records/rules'), root('records/sqlite')] },
  ...['sessions', 'hubs', 'codes', 'passkeys', 'routes'].map((area) => ({
    file: `root/records/sql/${area}.ts`,
    suites: [root('records/sqlite')],
  })),
  { file: 'root/tokens.ts', suites: [root('tokens')] },
  { file: 'root/codes.ts', suites: [root('typed')] },
];
