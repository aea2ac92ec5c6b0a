// logs: the journal of the hub's services, filtered, searched and followed. The supervisor reads it; this skill has no
// file of it.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Json, JsonObject, Skill, SkillRequest } from '../../../firmware/skills/sdk/skill.ts';
import type { HubContext, HubSkill } from '../../../firmware/skills/skill.ts';
import { supervisor1 } from '../../../firmware/supervisor/contract.ts';
import { isAbsent } from '../../../firmware/system/bus-errors.ts';
import { type Localized, localizer, translator } from '../../../firmware/text/i18n.ts';
import {
  type Entry,
  eventsOf,
  everything,
  type Filter,
  filterOf,
  fits,
  isOfAll,
  type Journal,
  MAX_TAIL,
  rowOf,
  tailOf,
} from './lines.ts';
import { logsText } from './texts.ts';
import { logsView } from './view.ts';

/** Lines on the screen. */
const ROWS = 100;
const TICK_MS = 2000;
/** A slow hub starts the supervisor first, milliseconds. */
const ASK_MS = 20_000;
/** A reader of events is answered at the latest after this time, below the limit of a request; and looks so often. */
const STREAM_MS = 12_000;
const STREAM_TICK_MS = 1500;
const STREAMS = 4;

const t = localizer(logsText);

/** What an owner looks at. */
interface Look {
  filter: Filter;
  live: boolean;
  lines: Entry[];
  cursor: string;
  cut: boolean;
  /** What the tile tells, since all lines were last looked at. */
  brief: Localized | '';
  trouble: 'noJournal' | 'notGiven' | 'away' | undefined;
  /** The view that is there now. */
  view: string;
}

/** Why the journal does not come. By the code, as an error of the bus is not of this bundle's class. */
function troubleOf(cause: unknown): Look['trouble'] {
  if (isAbsent(cause)) return 'noJournal';
  return (Object(cause) as Partial<IngleError>).code === 'forbidden' ? 'notGiven' : 'away';
}

function briefOf(lines: readonly Entry[]): Localized {
  const n = lines.filter((e) => e.level === 'error').length;
  return n > 0 ? t('errors', { n }) : t('fine');
}

const freshLook = (): Look => ({
  ...{ filter: everything, live: true, lines: [], cursor: '', cut: false, brief: '' },
  ...{ trouble: undefined, view: '' },
});

type Read = (filter: Filter, tail: number, after: string) => Promise<Journal>;

/** The journal, as the supervisor gives it. */
function openJournal(ctx: HubContext) {
  const supervisor = ctx.client(supervisor1);
  let units: string[] = [];

  /** The newest lines, or those after a cursor. With words to search for, all that one answer may hold is looked at. */
  const read: Read = async (filter, tail, after) => {
    const lines = filter.text ? MAX_TAIL : tail;
    const asked = filter.unit ? [filter.unit] : [];
    const said = await supervisor.Journal({ units: asked, level: filter.level, lines, after }, ASK_MS);
    units = said.own;
    const found = said.lines.filter((e) => fits(e, filter));
    return { ...said, lines: found.slice(-tail), cut: said.cut || found.length > tail };
  };
  /** Units it has, as the last answer said. */
  return { read, units: () => units };
}

const filterIn = ({ query }: SkillRequest) => filterOf(everything, Object.fromEntries(query));

/** Readers that follow the journal, a few at once. */
function openStreams(read: Read) {
  let streams = 0;
  let stopped = false;
  return {
    /** What came since the reader was here last, once there is something; the newest lines of one who comes anew. */
    async answer(r: SkillRequest): Promise<string> {
      const filter = filterIn(r);
      const tail = tailOf(r.query.get('tail'), 50);
      if (streams >= STREAMS)
        throw new IngleError('rate_limited', `At most ${STREAMS} readers follow the log at once.`, {
          retry_after: 5,
        });
      streams++;
      try {
        const end = Date.now() + STREAM_MS;
        let after = r.lastEventId ?? '';
        for (;;) {
          const said = await read(filter, after ? MAX_TAIL : tail, after);
          if (said.lines.length > 0 || !after || Date.now() > end || stopped) return eventsOf(said);
          after = said.cursor;
          await new Promise((done) => setTimeout(done, STREAM_TICK_MS));
        }
      } finally {
        streams--;
      }
    },
    stop(): void {
      stopped = true;
    },
  };
}

function start(ctx: HubContext): Skill {
  const journal = openJournal(ctx);
  const streams = openStreams(journal.read);
  const looks = new Map<string, Look>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function show(owner: string, look: Look): void {
    const { filter, live, lines, trouble } = look;
    const view = logsView({
      units: journal.units(),
      live,
      trouble: trouble !== undefined,
      empty: lines.length === 0,
    });
    const text = JSON.stringify(view);
    if (text !== look.view) ctx.setView(owner, view);
    look.view = text;
    ctx.setState(owner, {
      filter: { ...filter },
      live,
      brief: look.brief as unknown as Json,
      rows: lines.map((e) => rowOf(e, (level) => t(level) as unknown as Json)).reverse(),
      found: lines.length > 0 ? t(look.cut ? 'more' : 'shown', { n: lines.length }) : '',
      trouble: trouble ? t(trouble) : '',
    });
  }

  /** Looks anew, or at what came since. */
  async function look(owner: string, anew: boolean): Promise<void> {
    const l = looks.get(owner);
    if (!l) return;
    const { filter } = l;
    const after = anew ? '' : l.cursor;
    try {
      const said = await journal.read(filter, ROWS, after);
      // Another filter was chosen meanwhile.
      if (l.filter !== filter) return;
      const all = after ? [...l.lines, ...said.lines] : said.lines;
      l.cut = said.cut || (after !== '' && l.cut) || all.length > ROWS || (!after && all.length === ROWS);
      l.lines = all.slice(-ROWS);
      l.cursor = said.cursor;
      l.trouble = undefined;
      if (isOfAll(filter)) l.brief = briefOf(l.lines);
    } catch (cause) {
      l.trouble = troubleOf(cause);
      ctx.log.debug('the journal does not answer', { cause });
    }
    show(owner, l);
  }
  async function tick(): Promise<void> {
    clearTimeout(timer);
    for (const [owner, l] of looks) if (l.live && ctx.viewers(owner) > 0) await look(owner, l.cursor === '');
    clearTimeout(timer);
    if (!stopped && ctx.viewers() > 0) timer = setTimeout(run, TICK_MS);
  }
  function run(): void {
    tick().catch((cause) => ctx.log.error('the log cannot be shown', { cause }));
  }

  function lookOf(owner: string): Look {
    const known = looks.get(owner) ?? freshLook();
    looks.set(owner, known);
    return known;
  }
  return {
    attached(owner) {
      show(owner, lookOf(owner));
    },
    watched(owner, viewers) {
      const l = lookOf(owner);
      if (viewers > 0) {
        if (l.cursor === '') l.live = true;
        run();
      } else {
        // A log is kept once: what nobody looks at is not left in a document.
        Object.assign(l, { lines: [], cursor: '', cut: false });
        show(owner, l);
      }
    },
    stop() {
      stopped = true;
      streams.stop();
      clearTimeout(timer);
    },
    endpoints: [
      {
        method: 'GET',
        path: '/v1/logs',
        async answer(r) {
          const { lines, cut } = await journal.read(filterIn(r), tailOf(r.query.get('tail'), 200), '');
          const body = { lines: lines.map((l) => ({ ...l, at: l.at || null })), cut };
          return { body: body as unknown as JsonObject };
        },
      },
      {
        method: 'GET',
        path: '/v1/logs/stream',
        answer: async (r) => ({ type: 'text/event-stream', text: await streams.answer(r) }),
      },
      { method: 'GET', path: '/v1/state', answer: ({ owner_id }) => ({ body: { ...ctx.state(owner_id) } }) },
      {
        method: 'POST',
        path: '/v1/filter',
        async answer({ owner_id, body }) {
          const { set, value, ...fields } = body;
          const l = lookOf(owner_id);
          l.filter = filterOf(l.filter, typeof set === 'string' ? { [set]: value } : fields);
          l.cursor = '';
          await look(owner_id, true);
          return { body: { ...l.filter } };
        },
      },
      {
        method: 'POST',
        path: '/v1/live',
        async answer({ owner_id, body: { on } }) {
          const l = lookOf(owner_id);
          l.live = on === true;
          if (l.live) await look(owner_id, l.cursor === '');
          else show(owner_id, l);
          run();
          return { body: { on: l.live } };
        },
      },
    ],
  };
}

export const skill: HubSkill = {
  title: (language) => translator(logsText, language)('title'),
  start,
};
