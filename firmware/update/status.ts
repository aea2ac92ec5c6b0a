// What is told of an update: what runs, what is offered, what may be ordered now.
import type { Flow } from './flow.ts';
import { restful, type UpdateEvent } from './machine.ts';
import { nextNight } from './night.ts';
import type { UpdateParts } from './parts.ts';

export async function statusOf(o: UpdateParts, flow: Flow) {
  const { row } = flow;
  const { look, previous, known } = flow.slots;
  const now = o.now?.() ?? new Date();
  const f =
    flow.supported() && flow.begun() && row.state !== 'installing' ? await look().catch(known) : known();
  const back = f && previous(f);
  const begun = flow.begun();
  const can = (e: UpdateEvent) => begun && row.can(e);
  const aside = can('set_aside');
  const free = restful.has(row.state) && row.state !== 'installed';
  const orders = {
    check: begun && free && o.settings.url !== '',
    download: can('fetch'),
    install: can('prepare') && row.memory.offer !== null && free,
    restart: can('restart'),
    night: can('night'),
    cancel: can('cancel'),
    rollback: aside || (can('roll_back') && back !== undefined),
  };
  const { memory } = row;
  const { offer, error, result, passage, since } = memory;
  return {
    state: flow.supported() ? row.state : ('unsupported' as const),
    version: f?.version ?? (o.boot.version || o.boot.built),
    slot: f?.running.bootname ?? '',
    detail: {
      channel: memory.channel || o.settings.channel,
      checked_at: memory.checked_at,
      ...(offer
        ? { offer: { version: offer.version, size: offer.size, notes: offer.notes[o.settings.language] } }
        : {}),
      target: passage?.to.version ?? (row.state === 'downloading' ? (offer?.version ?? '') : ''),
      percent: flow.telling.now().percent,
      step: flow.telling.now().step,
      ...(error ? { error } : {}),
      ...(result ? { result } : {}),
      ...(back ? { previous: back } : {}),
      restart_at: row.state === 'waiting' && since ? nextNight(now).getTime() / 1000 : 0,
      can: Object.entries(orders).flatMap(([name, is]) => (is ? [name] : [])),
    },
  };
}
