// One run of a slot's host before a snapshot of it is taken: V8 compiles a function when it is first called, so what a
// start calls is in the snapshot as compiled code. The skill, its folders and the bus are made up, and all is gone after.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { loadBundle } from '../../firmware/skills/load.ts';
import { serveSlot } from '../../firmware/skills/serve.ts';
import type { HubSkill } from '../../firmware/skills/skill.ts';
import { connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { logger } from '../../firmware/system/log.ts';

const daemon = 'org.freedesktop.DBus\0';
const METHOD_CALL = 1;

/** An answer of the daemon (D-Bus specification, "Message Protocol"): its header names the call and the type of `body`. */
function answer(serial: number, type: 's' | 'u' | 'as', body: Buffer): Buffer {
  const head = Buffer.alloc(32);
  head.set([0x6c, 2, 1, 1], 0);
  head.writeUInt32LE(body.length, 4);
  head.writeUInt32LE(1, 8);
  head.writeUInt32LE(14 + type.length, 12);
  head.set([5, 1, 0x75, 0], 16);
  head.writeUInt32LE(serial, 20);
  head.set([8, 1, 0x67, 0, type.length], 24);
  head.write(type, 29, 'latin1');
  return Buffer.concat([head, body]);
}

/** A line to a daemon without guests but one: what is not for the daemon comes back to its sender. */
function line(): Duplex {
  let isIn = false;
  const hear = (message: Buffer): Buffer => {
    if (message[1] !== METHOD_CALL || !message.includes(daemon)) return message;
    const serial = message.readUInt32LE(8);
    if (message.includes('Hello\0')) return answer(serial, 's', Buffer.from('\x04\0\0\0:1.1\0', 'latin1'));
    return message.includes('ListActivatableNames\0')
      ? answer(serial, 'as', Buffer.alloc(4))
      : answer(serial, 'u', Buffer.from([1, 0, 0, 0]));
  };
  const stream = new Duplex({
    read() {},
    write(what: Buffer, _, done) {
      if (isIn)
        for (let at = 0; at < what.length; ) {
          const fields = what.readUInt32LE(at + 12);
          const end = at + 16 + Math.ceil(fields / 8) * 8 + what.readUInt32LE(at + 4);
          stream.push(hear(Buffer.from(what.subarray(at, end))));
          at = end;
        }
      else if (what.includes('BEGIN')) isIn = true;
      else if (what.includes('AUTH')) stream.push('OK 0\r\n');
      done();
    },
  });
  process.nextTick(() => stream.emit('connect'));
  return stream;
}

/** Node keeps what it last read of a file: times and numbers of this one machine. */
function forgetFiles(): void {
  const { binding } = process as unknown as {
    binding(name: 'fs'): Record<string, Float64Array | BigInt64Array>;
  };
  const { statValues, bigintStatValues } = binding('fs');
  (statValues as Float64Array | undefined)?.fill(0);
  (bigintStatValues as BigInt64Array | undefined)?.fill(0n);
}

/** What is shown and answered here stands for what most skills do. */
const skill: HubSkill = {
  start: (ctx) => ({
    attached: (owner) => ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: 'Rehearsal' } }),
    watched: (owner, viewers) => ctx.setState(owner, { viewers }),
    endpoints: [{ method: 'POST', path: '/v1/add', answer: () => ({ body: {}, state: () => ({ n: 1 }) }) }],
  }),
};

/**
 * Serves a made-up skill to itself.
 * @throws Error when it is not served
 */
export async function rehearse(): Promise<void> {
  const { createConnection } = net;
  const { now } = Date;
  const { env } = process;
  net.createConnection = line as never;
  // Two snapshots are equal: no time of theirs is in them.
  Date.now = () => 0;
  process.env = { ...env, JOURNAL_STREAM: '1:1' };
  const folder = join(tmpdir(), `ingle-rehearsal-${process.pid}`);
  const config = { ...readConfig({}), data: folder, skills: join(folder, 'root') };
  const [id, owner_id, busName] = ['rehearsal', 'rehearsal', skillBusName(1)];
  mkdirSync(join(config.skills, id), { recursive: true });
  const ui = { title: id, modes: ['modal'], schema: 'ui/v0' };
  const manifest = { id, version: '1.0.0', capabilities: { visual: true, ui } };
  writeFileSync(join(config.skills, 'slots.json'), JSON.stringify({ [id]: 1 }));
  writeFileSync(join(config.skills, id, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(config.skills, id, 'skill.js'), '');
  try {
    const bus = await connect('unix:path=/');
    const served = await serveSlot(1, {
      config,
      bus,
      log: logger('rehearsal'),
      touch() {},
      leave() {},
      // Its way is gone once; what it finds is the skill above.
      load: async (file) => ({ ...((await loadBundle(file)) as object), skill }),
    });
    const caller = bus.client(skill1, { busName });
    await caller.Manifest({});
    await bus.listActivatableNames();
    // Nothing is stored for the first owner; the second one's documents are there, as they mostly are.
    const { documents } = await caller.Attach({ owner_id, viewers: 0, documents: [] });
    await caller.Attach({ owner_id: `${owner_id}_again`, viewers: 1, documents });
    await caller.Watch({ owner_id, viewers: 1 });
    await caller.Due({});
    await caller.Kept({ at: 0 });
    await caller.Request({
      ...{ id, owner_id, method: 'POST', path: '/v1/add', headers: {} },
      body: Buffer.from('{}'),
    });
    served.stop(0);
    bus.close();
    // Node looks for its next timer when one fires. Without this it would still wait for one of the rehearsal's, and what
    // is due after that would never come.
    await new Promise((fired) => setTimeout(fired, 1));
  } finally {
    net.createConnection = createConnection;
    Date.now = now;
    process.env = env;
    rmSync(folder, { recursive: true, force: true });
    forgetFiles();
  }
}
