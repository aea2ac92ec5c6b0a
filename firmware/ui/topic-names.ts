// Names of topics of screens, without their schemas: a skill's process carries no checker.

export const clientTopics = ['ui.toast', 'ui.notify', 'ui.route'] as const;
export type ToClient = (typeof clientTopics)[number];

export const isToClient = (topic: string): topic is ToClient =>
  (clientTopics as readonly string[]).includes(topic);
