// A peer of the bench `sync`: Hocuspocus as its page starts it, without an extension that would store anything. A room may be
// quiet for the whole run.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , folder, port] = process.argv;
const at = createRequire(`${folder}/`).resolve('@hocuspocus/server');
const { Server } = await import(pathToFileURL(at));
const server = new Server({ address: '127.0.0.1', port: Number(port), quiet: true, timeout: 600_000 });
await server.listen();
