// Ends the house's processes when the process that runs it dies, however it dies (kill -9 included).
// It reads `+<pid>`, `-<pid>` and `!<folder to remove>` from a pipe; the pipe's end is the parent's death.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const groups = new Set<number>();
const folders = new Set<string>();

function signal(name: NodeJS.Signals): boolean {
  let any = false;
  for (const pid of groups)
    try {
      process.kill(-pid, name);
      any = true;
    } catch {
      groups.delete(pid);
    }
  return any;
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const rest = line.slice(1);
    if (line[0] === '!') folders.add(rest);
    else if (line[0] === '+') groups.add(Number(rest));
    else groups.delete(Number(rest));
  })
  .on('close', async () => {
    signal('SIGTERM');
    for (let i = 0; i < 20 && signal('SIGCONT'); i++) await new Promise((done) => setTimeout(done, 100));
    signal('SIGKILL');
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

// Signals of the terminal are the parent's to handle; it closes the pipe when it is done.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
