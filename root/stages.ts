// The live stages of links, and which of them are not yet on record.
import { next, type StageEvent, stageTable } from '../firmware/protocol/stage.ts';
import type { Link } from './links.ts';
import { log, short } from './log.ts';
import type { Records } from './records/records.ts';

export type Stages = ReturnType<typeof openStages>;

export function openStages({ sessions }: Pick<Records, 'sessions'>) {
  const dirty = new Set<Link>();

  /** The one place a live stage is written. */
  function enter(link: Link, event: StageEvent): void {
    const stage = next(stageTable, link.stage, event);
    if (stage === null || stage === link.stage) return;
    log('debug', `stage ${link.stage} -> ${stage}`, { session: short(link.sid), event });
    link.stage = stage;
    dirty.add(link);
  }
  return {
    enter,
    /** Its hub has gone, or it leads to another one. */
    unbind(link: Link): void {
      link.bound = false;
      link.sealed = undefined;
      link.passed = 0;
      enter(link, 'hub_offline');
    },
    /** A frame has passed. @param way as in `Link` */
    passed(link: Link, way: 1 | 2): void {
      if ((link.passed & way) !== 0) return;
      link.passed |= way;
      if (link.passed === 3) enter(link, 'up');
    },
    forget: (link: Link): void => void dirty.delete(link),
    /** Puts changed stages on record. */
    async flush(): Promise<void> {
      if (dirty.size === 0) return;
      const changed = [...dirty].map(({ sid, stage }) => ({ sid, stage }));
      dirty.clear();
      await sessions.keepStages(changed);
    },
  };
}
