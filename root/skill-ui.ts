// Skills' own pages through root (D130): a ticket opens one page once, and the page's capability opens the files below its
// skill's /v1/ui/ for a while. Root can read what passes here; what may pass the hub decides for itself.
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { SKILL_UI } from '../firmware/protocol/page.ts';
import {
  DOCTYPE_WITHIN,
  fileType,
  isPagePath,
  PAGE_TTL,
  skillPageHeaders,
  TICKET_TTL,
  withTicket,
} from '../firmware/protocol/skill-page.ts';
import { seconds } from './clock.ts';
import { digest, sameText } from './digest.ts';
import type { Pieces, Reply } from './http.ts';
import type { Session, SkillPage } from './records/records.ts';
import type { Root } from './root.ts';
import { ownedBy } from './webauthn.ts';

const invalid = () =>
  new IngleError('ticket_invalid', 'The ticket is not valid or too old. Open the page again.');
const nowhere = () => new IngleError('not_found', 'There is no such page.');

/**
 * A ticket for a page of a skill, and the address that takes it.
 * @throws IngleError `forbidden` for a guest and for another's hub, `hub_offline`, `rate_limited`
 */
export async function openPage(
  root: Root,
  session: Session,
  {
    skill_id,
    hub_id = session.hub_id!,
    page = 'panel',
  }: { skill_id: string; hub_id?: string; page?: string },
) {
  const owner_id = session.owner_id!;
  root.limits.ticket.take(owner_id);
  // To root a guest is the owner's account: the hub alone knows what a guest may see.
  await ownedBy(root, session);
  if (!isPagePath(page))
    throw new IngleError('invalid_request', '"page" is no path below /v1/ui/.', { pointer: '/page' });
  const hub = await root.records.hubs.find(hub_id);
  if (hub?.owner_id !== owner_id) throw new IngleError('forbidden', 'This is no hub of yours.');
  if (!(await root.ways.isOnline(hub_id)))
    throw new IngleError('hub_offline', 'The hub has no open connection to root.');
  const exp = seconds() + TICKET_TTL;
  const jti = toBase64url(random(16));
  const ticket = await root.tokens.issueTicket({ owner_id, skill_id, hub_id, page, jti }, exp);
  const { sid } = session;
  await root.records.pages.begin({ id: digest(jti), sid, owner_id, hub_id, skill_id, exp });
  return { ticket, entryUrl: `${root.config.api}${SKILL_UI}/${skill_id}/v1/ui/${page}?ticket=${ticket}` };
}

/** What of a page's address opens its files: the page's name, and root's signature over all that it stands for. */
function capabilityOf(root: Root, { id, skill_id, hub_id, owner_id, sid }: SkillPage): string {
  const meant = [id, skill_id, hub_id, owner_id, sid].join('\n');
  return id + root.tokens.mac('skill_ui_page', meant).slice(0, 22);
}

/** Whether the hub is still its owner's, and there. @throws IngleError */
async function checkHub(root: Root, { hub_id, owner_id }: Pick<SkillPage, 'hub_id' | 'owner_id'>) {
  if ((await root.records.hubs.find(hub_id))?.owner_id !== owner_id) throw invalid();
  if (!(await root.ways.isOnline(hub_id)))
    throw new IngleError('hub_offline', 'The hub has no open connection to root.');
}

/**
 * The page that a ticket is for, once.
 * @throws IngleError `ticket_invalid`, `ticket_spent`, and what the hub says
 */
export async function enterPage(root: Root, asked: { skill_id: string; path: string; ticket: string }) {
  const { skill_id, path, ticket } = asked;
  const claims = await root.tokens.verifyTicket(ticket);
  if (claims.skill_id !== skill_id || claims.page !== path) throw invalid();
  // A hub that is away costs no ticket.
  await checkHub(root, claims);
  const now = seconds();
  const page = await root.records.pages.spend({ id: digest(claims.jti), now, exp: now + PAGE_TTL });
  if (page === undefined) throw invalid();
  if (page === 'spent') throw new IngleError('ticket_spent', 'The ticket was used. Open the page again.');
  if (page.skill_id !== skill_id || page.hub_id !== claims.hub_id || page.owner_id !== claims.owner_id)
    throw invalid();
  const capability = capabilityOf(root, page);
  const { type, pieces } = await root.files.get(page.hub_id, hubAsked(page, path));
  if (!type.startsWith('text/html')) {
    pieces.stop();
    throw new IngleError('not_supported', 'This is no page.');
  }
  const beside = path.slice(0, path.lastIndexOf('/') + 1);
  const base = `${SKILL_UI}/${skill_id}/${capability}/v1/ui/${beside}`;
  return replyOf(root, { skill_id, capability }, 'text/html; charset=utf-8', begun(pieces, ticket, base));
}

/**
 * A file of a page that was entered.
 * @throws IngleError `not_found`, and what the hub says
 */
export async function pageFile(root: Root, asked: { skill_id: string; capability: string; path: string }) {
  const { skill_id, capability, path } = asked;
  const page = /^[\w-]{65}$/.test(capability)
    ? await root.records.pages.find(capability.slice(0, 43), seconds())
    : undefined;
  // With nothing on record it is compared as well, so that time does not tell the two apart.
  const none: SkillPage = { id: '', sid: '', owner_id: '', hub_id: '', skill_id: '', exp: 0 };
  const isRight = sameText(capability, capabilityOf(root, page ?? none));
  if (!page || !isRight || page.skill_id !== skill_id) throw nowhere();
  root.limits.file.take(page.id);
  await checkHub(root, page);
  const { type, pieces } = await root.files.get(page.hub_id, hubAsked(page, path));
  return replyOf(root, { skill_id, capability }, fileType(path, type), pieces);
}

/** @throws IngleError `not_found` for what is no path below /v1/ui/ */
function hubAsked({ owner_id, skill_id }: SkillPage, path: string) {
  if (!isPagePath(path)) throw nowhere();
  return { owner_id, skill_id, path };
}

function replyOf(
  { config }: Root,
  { skill_id, capability }: { skill_id: string; capability: string },
  type: string,
  body: Pieces,
): Reply {
  const own = `${config.api}${SKILL_UI}/${skill_id}/${capability}/v1/ui/`;
  const headers = { ...skillPageHeaders(own, config.origin), 'content-type': type };
  return { status: 200, headers, body };
}

/** A page with its ticket and its base in it; of it no more is held than where its doctype may be. */
function begun(pieces: Pieces, ticket: string, base: string): Pieces {
  let isBegun = false;
  async function beginning(): Promise<Uint8Array | null> {
    isBegun = true;
    const parts: Uint8Array[] = [];
    let size = 0;
    while (size < DOCTYPE_WITHIN) {
      const piece = await pieces.next();
      if (piece === null) break;
      parts.push(piece);
      size += piece.length;
    }
    // Each byte as one character and back, as a piece may end within one.
    return Buffer.from(withTicket(Buffer.concat(parts).toString('latin1'), ticket, base), 'latin1');
  }
  return { next: () => (isBegun ? pieces.next() : beginning()), stop: pieces.stop };
}
