// A hub and a browser of it, signed in and connected as bare lines.
import { type RootProcess, signedIn, until } from '../root/kit.ts';
import { type Line, openLine } from './_line.ts';

/** A hub at one process and its browser at one, with their route bound. */
export async function pair([at, from]: [RootProcess, RootProcess]): Promise<{
  hub: Line;
  line: Line;
  sid: string;
}> {
  const { hub: h, tab } = await signedIn(at, from);
  const auth = { hub_id: h.hub_id, certificate: h.certificate, proof: await h.proof('socket') };
  const hub = await openLine(at.port, '/hub', auth, h.from);
  hub.onMessage = (_, m) => {
    if (m.toString().startsWith('42/hub,["pairing.request"'))
      hub.text(`42/hub,0["pairing.accept",${JSON.stringify({ sid: tab.sid })}]`);
  };
  hub.text(`42/hub,["hub.online",${JSON.stringify(h.online())}]`);
  const of = { ...tab.from, cookie: tab.cookie };
  const line = await openLine(from.port, '/owner', { token: tab.token, sid: tab.sid }, of);
  let isBound = false;
  line.onMessage = (_, m) => {
    const text = m.toString();
    const id = /^42\/owner,(\d+)\["status"/.exec(text)?.[1];
    if (id) line.text(`43/owner,${id}[]`);
    isBound ||= text.includes('"route":"bound"');
  };
  line.text(`42/owner,["owner.online",${JSON.stringify(tab.online())}]`);
  await tab.offer();
  await until(() => isBound, 'a bound route');
  return { hub, line, sid: tab.sid };
}
