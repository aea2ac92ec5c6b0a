// Runs in the lab's machine: commands come over a virtio-serial port, one JSON line each, answers go back so.
// Request {id, cmd, input?, timeout} or {id, file, data}; answer {id, code, stdout, stderr}. Output is base64.
import { spawn } from 'node:child_process';
import { createReadStream, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const port = '/dev/virtio-ports/ingle.lab';
// The port takes one opener, so reading and writing share it.
const fd = openSync(port, 'r+');
const say = (o) => {
  const bytes = Buffer.from(`${JSON.stringify(o)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
};

function command({ id, cmd, input, timeout }) {
  // A group of its own, so that what the command left behind in the foreground goes with it.
  const child = spawn('/bin/bash', ['-c', cmd], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, PATH: '/run/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' },
  });
  const stdout = [];
  const stderr = [];
  child.stdout.on('data', (d) => stdout.push(d));
  child.stderr.on('data', (d) => stderr.push(d));
  child.stdin.on('error', () => {});
  child.stdin.end(input ? Buffer.from(input, 'base64') : undefined);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {}
    finish(124);
  }, timeout);
  let done = false;
  function finish(code) {
    if (done) return;
    done = true;
    clearTimeout(timer);
    const text = (parts) => Buffer.concat(parts).toString('base64');
    say({ id, code: late ? 124 : code, stdout: text(stdout), stderr: text(stderr) });
  }
  child.on('error', (e) => {
    stderr.push(Buffer.from(e.message));
    finish(127);
  });
  child.on('exit', (code, signal) => {
    // A daemon left in the background keeps the pipes open; what was said until now is the answer.
    setTimeout(() => finish(code ?? 128 + (signal ? 9 : 0)), 300);
  });
  child.on('close', (code) => finish(code ?? 137));
}

let rest = '';
createReadStream('', { fd, encoding: 'utf8', highWaterMark: 4096 }).on('data', (text) => {
  rest += text;
  const lines = rest.split('\n');
  rest = lines.pop();
  for (const line of lines) {
    if (!line) continue;
    const request = JSON.parse(line);
    if (request.file) {
      mkdirSync(dirname(request.file), { recursive: true });
      writeFileSync(request.file, Buffer.from(request.data, 'base64'), { mode: request.mode ?? 0o644 });
      say({ id: request.id, code: 0, stdout: '', stderr: '' });
    } else command(request);
  }
});
say({ id: 0, code: 0, stdout: '', stderr: '' });
