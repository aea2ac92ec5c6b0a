// Names of topics of screens, without their schemas: a skill's process carries no checker.

export const clientTopics = ['ui.toast', 'ui.notify', 'ui.route'] as const;
export type ToClient = (typeof clientTopics)[number];

export const isToClient = (topic: string): topic is ToClient =>
  (clientTopics as readonly string[]).includes(topic);

/** A line of what skills have told a person, under `said` in their `desktop/state:main`. */
export interface Told<Payload = Readonly<Record<string, unknown>>> {
  /** New for each line. */
  id: string;
  /** Unix milliseconds, by the hub's clock. */
  at: number;
  skill_id: string;
  topic: ToClient;
  payload: Payload;
}
