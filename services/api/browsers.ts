// Answers of firmware/people/browsers-api.ts: io.ingle.Uplink1 knows the browsers.
import { browsersApi } from '../../firmware/people/browsers-api.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { CODE_MS, uplink1 } from '../../firmware/uplink/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

export function browserEndpoints(bus: Bus): LocalEndpoint[] {
  const uplink = () => bus.client(uplink1);
  const handlers: Handlers<typeof browsersApi, Asked, Response> = {
    async list({ caller }) {
      const [{ browsers }, { people }] = await Promise.all([
        uplink().ListBrowsers({}),
        uplink().ListPeople({}),
      ]);
      const theirs = new Set(people.flatMap((p) => p.browsers));
      const mine = browsers
        .filter((b) => !theirs.has(b.id))
        .map(({ id, label, paired_at, seen_at }) => ({
          ...{ id, label, here: id === caller?.browser },
          ...{ paired_at: Number(paired_at), seen_at: Number(seen_at) },
        }));
      return { browsers: mine.sort((a, b) => Number(b.here) - Number(a.here) || b.seen_at - a.seen_at) };
    },
    async invite({ caller }) {
      // A program with the token is nobody the owner sees: they are told of its code.
      const w = await (caller?.browser
        ? uplink().InviteBrowser({}, CODE_MS)
        : uplink().IssueCode({ new_passkey: true }, CODE_MS));
      return {
        ...{ link: w.link, code: `${w.device_code} ${w.secret}`, verify_uri: w.verify_uri },
        expires_at: Number(w.expires_at),
      };
    },
    async rename({ params: { id }, body: { label } }) {
      await uplink().RenameBrowser({ id, label });
      return { ok: true };
    },
    async forget({ params: { id } }) {
      await uplink().ForgetBrowser({ id });
      return { ok: true };
    },
  };
  return bind(browsersApi, handlers);
}
