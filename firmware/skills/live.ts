// A skill that runs: what it sends is stored, within what one skill may send; what is asked of it is answered.
import type { JsonObject } from '../documents/content.ts';
import type { Library } from '../documents/library.ts';
import { isPassing } from '../documents/waiting.ts';
import { checked } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Caller } from '../system/contract.ts';
import { isToClient, type ToClient } from '../ui/topic-names.ts';
import { toClient } from '../ui/topics.ts';
import type { Problem } from '../ui/tree.ts';
import { type Answer, isRemembered, type SkillRequest } from './answer.ts';
import { attachments, type Document } from './attachments.ts';
import { skill1 } from './contract.ts';
import { contentCheck, documentKey, documents, problemsOf } from './documents.ts';
import { type EarOptions, openEar } from './ear.ts';

export interface Live {
  /** Hears what it sends, from now on. */
  hear(): Promise<void>;
  /** Gives the skill what is stored for an owner and how many look at it, and takes what was lacking. */
  attach(owner_id: string): Promise<void>;
  isAttached(owner_id: string): boolean;
  /** What the skill says of an owner is heard no more. */
  detach(owner_id: string): void;
  /** Has it say when its next timer is due. */
  askDue(): Promise<void>;
  /** Tells it how many look at an owner's documents, where that is news. */
  watch(owner_id: string, viewers: number): void;
  /**
   * Asks one of its paths; the effect is stored before this settles.
   * @throws IngleError `rate_limited` when it has as much to do as it may
   */
  request(r: SkillRequest): Promise<Answer>;
  /** It is gone, or another process has its name. */
  end(): void;
}

export interface LiveOptions extends EarOptions {
  library: Library;
  /** It tells a person something. */
  onSaid?(owner_id: string, topic: ToClient, payload: JsonObject): void;
  /** Another timer of it is the next; it may sleep once this has settled. */
  onDue(at: number): Promise<void>;
}

/** How many look at what a skill shows an owner. */
export function viewing(library: Library, owner_id: string, skill_id: string): number {
  return library.peek(documentKey(owner_id, skill_id, 'state:main'))?.members.size ?? 0;
}

const MAX_IN_FLIGHT = 16;
const REQUEST_MS = 25_000;

export function openLive(o: LiveOptions): Live {
  const { id, bus, library, log } = o;
  const caller: Caller<typeof skill1> = bus.client(skill1, { busName: o.owner });
  const attached = attachments({ id, library, attach, gather, tell });
  const viewersOf = new Map<string, number>();
  let [latest, saying] = [0, Promise.resolve()];
  let inFlight = 0;
  const ear = openEar(
    {
      ...o,
      onMuted() {
        attached.lapse();
        o.onMuted();
      },
    },
    { Update: updated, DueChanged: ([at]) => due(at), Said: said },
  );
  const isStored = (owner_id: string) => ear.hears && attached.isSettled(owner_id);

  async function attach(body: { owner_id: string; documents: Document[] }) {
    const { owner_id } = body;
    const viewers = viewing(library, owner_id, id);
    const answer = await caller.Attach({ ...body, viewers }, 10_000);
    viewersOf.set(owner_id, viewers);
    return answer;
  }

  function said([owner_id, topic, text]: [string, string, string]): void {
    if (ear.ended || !attached.has(owner_id) || !isToClient(topic) || !ear.spend(text.length)) return;
    try {
      o.onSaid?.(
        owner_id,
        topic,
        checked(toClient[topic].payload, JSON.parse(text)) as unknown as JsonObject,
      );
    } catch (cause) {
      log.warn('what a skill tells is refused', { skill: id, topic, cause });
    }
  }

  /** Its newest word counts: an older one that is stored later is said no more. */
  function due(at: number): void {
    if (!ear.spend(0)) return;
    latest = at;
    saying = saying
      .then(async () => {
        if (ear.ended || latest !== at) return;
        await o.onDue(at);
        await caller.Kept({ at }, 5000);
      })
      .catch((cause) => log.warn('a due time is not kept; the skill stays awake', { skill: id, cause }));
  }

  function updated([owner_id, doc, update]: [string, string, Uint8Array]): void {
    const isTaken = !ear.ended && attached.takes(owner_id) && documents.includes(doc);
    if (isTaken && ear.spend(update.length)) attached.take(owner_id, doc, update);
  }

  function gather(owner_id: string, doc: string, update: Uint8Array): void {
    const room = library.peek(documentKey(owner_id, id, doc));
    const refused = (cause: unknown) => {
      log.warn('an update of a skill was refused', { skill: id, doc, cause });
      tell(owner_id, doc, problemsOf(cause), true);
      // What it sends next would build on what was refused.
      ear.mute();
    };
    room?.gather(update, contentCheck(doc), refused, (problems) => tell(owner_id, doc, problems, false));
  }

  /** Its author finds what is wrong with a view in the skill's own log. */
  function tell(owner_id: string, doc: string, problems: readonly Problem[], isRefused: boolean): void {
    caller
      .Told({ owner_id, doc, refused: isRefused, problems: [...problems] }, 5000)
      .catch((cause) => log.debug('Told failed', { skill: id, cause }));
  }

  return {
    hear: ear.hear,
    async askDue() {
      const said = await caller.Due({}, 10_000).catch((cause) => {
        log.warn('a skill does not say when it is due', { skill: id, cause });
        return undefined;
      });
      if (said) due(said.at);
    },
    attach: (owner_id) =>
      attached.attach(owner_id).catch((cause) => {
        // Without what it lacks here, nothing it sends can be stored: it is attached anew.
        if (isPassing(cause)) ear.mute();
        throw cause;
      }),
    isAttached: attached.has,
    detach(owner_id) {
      attached.end(owner_id);
      viewersOf.delete(owner_id);
    },
    watch(owner_id, viewers) {
      if (!attached.has(owner_id)) return;
      if (viewersOf.get(owner_id) === viewers) return;
      viewersOf.set(owner_id, viewers);
      caller.Watch({ owner_id, viewers }).catch((cause) => log.debug('Watch failed', { skill: id, cause }));
    },
    async request(r) {
      if (inFlight >= MAX_IN_FLIGHT)
        throw new IngleError('rate_limited', `The skill "${id}" is busy.`, { retry_after: 1 });
      inFlight++;
      try {
        const answer = await caller.Request({ headers: {}, ...r }, REQUEST_MS);
        // Its updates came before its answer on the same line, so they are in the rooms by now.
        const areThere = isStored(r.owner_id);
        for (const doc of documents) await library.peek(documentKey(r.owner_id, id, doc))?.flush();
        // Unless it was unheard, or they were refused: who asks again then gets the same answer, with its effect.
        if (!(areThere && isStored(r.owner_id)) && isRemembered(r))
          throw new IngleError('unavailable', `What "${id}" did is not stored yet.`, { retry_after: 10 });
        return answer;
      } finally {
        inFlight--;
      }
    },
    end: ear.end,
  };
}
