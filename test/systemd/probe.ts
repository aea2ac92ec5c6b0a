// A caller on a bus under another user: does what its argument says and prints one JSON line about it.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { connect } from '../../firmware/system/bus.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';

const [address, what, ...rest] = process.argv.slice(2) as [string, string, ...string[]];
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const status = {
  connected: true,
  root: '',
  owner_id: '',
  subnet_id: '',
  hub_id: 'h',
  keys: '',
  expires_at: 0n,
  browsers: 0,
  channels: 0,
  pending: 0,
  insecure: false,
  last_error: '',
};

try {
  const bus = await connect(address);
  if (what === 'serve') {
    const served = await bus.serve(uplink1, {
      Status: () => status,
      ListBrowsers: () => ({ browsers: [] }),
    } as never);
    print({ ok: true });
    setInterval(() => served.emit('Connected', { connected: true }), 100);
  } else if (what === 'skill') {
    await bus.call('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'RequestName', 'su', [rest[0], 4]);
    print({ ok: true });
    setInterval(() => {}, 1000);
  } else if (what === 'publish') {
    setInterval(() => bus.publish('test.topic', 1), 100);
    print({ ok: true });
  } else if (what === 'own') {
    const r = await bus.call('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'RequestName', 'su', [
      rest[0],
      4,
    ]);
    print({ ok: true, r: r[0] });
    process.exit();
  } else if (what === 'call') {
    const [to, path, iface, member] = rest as [string, string, string, string];
    await bus.call(to, path, iface, member, '', [], 5000);
    print({ ok: true });
    process.exit();
  } else if (what === 'hear') {
    // Answers how many signals came while the bus answered 20 pings; with a name of its own, where one is given.
    if (rest[1])
      await bus.call('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'RequestName', 'su', [rest[1], 4]);
    let heard = 0;
    await bus.match({ interface: rest[0]! }, () => heard++);
    for (let i = 0; i < 20; i++) {
      await bus.listNames();
      await new Promise((done) => setTimeout(done, 50));
    }
    print({ heard });
    process.exit();
  }
} catch (e) {
  print({ error: e instanceof IngleError ? e.code : String(e), message: (e as Error).message });
  process.exit();
}
