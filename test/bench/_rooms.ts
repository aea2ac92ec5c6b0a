// Our side of the bench `sync`: the server, the rooms and the store of ingle-api, with more sockets than a hub lets in.
import { archiveSchema } from '../../firmware/documents/archive.ts';
import type { Commands } from '../../firmware/documents/commands.ts';
import { openLibrary } from '../../firmware/documents/library.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { rate } from '../../firmware/protocol/bucket.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';
import { tokenCheck } from '../../firmware/system/token.ts';
import { callerOf } from '../../services/api/auth.ts';
import type { Desktop } from '../../services/api/desktop.ts';
import { listen } from '../../services/api/server.ts';
import { syncServer } from '../../services/api/sync.ts';

const [, , port, folder] = process.argv;
const log = logger('bench');
const store = await openStore(`${folder}/api.db`, archiveSchema);
const signer = openSigner(`${folder}/key`);
const token = tokenCheck(`${folder}/token`);
const library = openLibrary({ store, signer, log, needed: () => false });
const skills = { known: () => new Map(), async addOwner() {}, viewersChanged() {} } as unknown as Skills;
const desktop = { of: () => ({}), roleOf: () => undefined, async serve() {} } as unknown as Desktop;
const plenty = rate(1e9, 1e9);
const sync = syncServer({
  ...{ store, library, skills, desktop, log },
  commands: {} as Commands,
  messages: plenty,
});
await listen(
  '127.0.0.1',
  Number(port),
  {
    admit: async () => ({ status: 204 }),
    upgrade: ({ path, headers }) => sync.connect(path, callerOf(headers, token)),
  },
  { sockets: 1e6, handshakes: plenty },
);
