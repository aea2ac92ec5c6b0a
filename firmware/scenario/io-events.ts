// What goes out to a person and what comes back, told: the way it took, and never what was said.
import type { Action, Actions, Asked } from './action.ts';
import type { Value } from './expression.ts';
import type { Tell } from './live.ts';

/** The way of actions that have one; those that choose say it in their answer (`by`). */
const ways: Readonly<Record<string, string>> = {
  'io.console.print': 'console',
  'io.voice.tts.speak': 'voice',
  'io.say': 'voice',
  'io.ask': 'voice',
  notify: 'phone',
};
const hearing: readonly string[] = ['io.voice.stt.listen', 'io.ask'];

const field = (v: Value, name: string): Value | undefined =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Record<string, Value>)[name] : undefined;

/** The same actions; those of `io` tell of it. */
export function tellingIo<A extends Actions>(actions: A, tell: Tell): A {
  const told = (name: string, action: Action): Action => ({
    ...action,
    async perform(asked: Asked) {
      const result = await action.perform(asked);
      const { run_id, scenario_id } = asked;
      const step = asked.key.split('/').slice(1, -1).join('/');
      const of = { run_id, scenario_id, step, action: name };
      const by = field(result, 'by');
      if (Object.hasOwn(ways, name))
        tell('io.send', { ...of, way: typeof by === 'string' ? by : ways[name] });
      if (hearing.includes(name))
        tell('io.receive', { ...of, way: 'voice', heard: field(result, 'heard') === true });
      return result;
    },
  });
  return {
    ...actions,
    find(name) {
      const action = actions.find(name);
      return action && (Object.hasOwn(ways, name) || hearing.includes(name)) ? told(name, action) : action;
    },
  };
}
