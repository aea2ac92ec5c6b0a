// Who may do what in setup: channel by channel, how far the hub is, and what was proved. Every channel asks this table.

/** Ways to a hub in setup. `rescue` is the hub started by its rescue entry, `app` the owner's application. */
export type Way =
  | 'softap'
  | 'ble'
  | 'improv_ble'
  | 'serial'
  | 'screen'
  | 'improv_serial'
  | 'bot'
  | 'button'
  | 'cli'
  | 'app'
  | 'rescue';

/** Never set up; set up (a network, or done by hand) and no browser is paired; a browser is paired. */
export type Stage = 'new' | 'ownerless' | 'owned';

export type Action =
  /** Name, model, version, and where setup stands. */
  | 'status'
  /** Networks in reach, speakers and microphones. */
  | 'look'
  /** Test and choose speaker and microphone. */
  | 'audio'
  | 'join'
  /** The pairing link and code. */
  | 'pair'
  /** A code with which an owner who has lost every passkey makes a new one. */
  | 'recover'
  /** What another owner takes this hub with, and the yes of a person at it. */
  | 'hand_over'
  /** The access point's password and the PIN. */
  | 'secrets'
  /** Have the hub say its secrets aloud. */
  | 'speak'
  | 'restart'
  | 'finish'
  /** Doctor, self-test, logs, journal. */
  | 'technician'
  /** Let Improv in over Bluetooth. */
  | 'approve'
  | 'reset'
  | 'shell';

export type Proof =
  /** In the access point, so in the possession of its password. */
  | 'psk'
  | 'pin'
  /** The console secret typed at this terminal, or the maker has set none. */
  | 'console'
  /** The console secret typed, where there is one. */
  | 'secret'
  /** Somebody at the device has just let Improv in. */
  | 'approval'
  /** The maker has printed no PIN on the device. */
  | 'unlabelled'
  /** A hand on the button. */
  | 'presence'
  /** Root, or a member of group ingle, on the hub itself. */
  | 'root'
  /** A paired browser whose passkey has just asserted. */
  | 'owner';

/** Any one of these proofs is enough; none are needed of an empty list. */
type Need = readonly Proof[];
/** A stage that is not named is open to nobody. */
type Cell = Need | Readonly<Partial<Record<Stage, Need>>>;

const everybody: Need = [];
const each = (actions: readonly Action[], need: Cell): Partial<Record<Action, Cell>> =>
  Object.fromEntries(actions.map((action) => [action, need]));

/** A hub that was never set up has nobody to come back or to give it away. */
const changeOfHands = (need: Need) => each(['recover', 'hand_over'], { ownerless: need, owned: need });

const terminal = {
  ...each(
    [
      ...(['status', 'look', 'audio', 'join', 'pair', 'secrets', 'speak', 'restart', 'finish'] as const),
      ...(['technician', 'approve', 'reset'] as const),
    ],
    ['console'],
  ),
  ...changeOfHands(['console']),
};
/** Improv knows no PIN: open while there is nothing to take, and no printed PIN to go round. */
const improvAir: Cell = { new: ['unlabelled', 'approval'], ownerless: ['approval'], owned: ['approval'] };

/** What is not here is done by nobody on that way. */
export const rights: Readonly<Record<Way, Partial<Record<Action, Cell>>>> = {
  softap: each(['status', 'look', 'audio', 'join', 'pair', 'finish'], ['psk']),
  ble: {
    ...each(['status', 'look'], everybody),
    ...each(['audio', 'join', 'pair', 'secrets'], ['pin']),
  },
  improv_ble: {
    ...each(['status', 'look', 'speak'], everybody),
    ...each(['join', 'pair'], improvAir),
  },
  serial: terminal,
  screen: terminal,
  improv_serial: {
    ...each(['status'], everybody),
    ...each(['look', 'join', 'pair'], ['console']),
  },
  bot: each(['status', 'look', 'audio', 'join', 'pair', 'restart', 'finish'], ['pin']),
  button: each(['restart', 'approve', 'reset'], ['presence']),
  cli: {
    ...each(
      [
        ...(['status', 'look', 'audio', 'join', 'pair', 'secrets', 'speak', 'restart', 'finish'] as const),
        ...(['approve', 'reset'] as const),
      ],
      ['root'],
    ),
    ...changeOfHands(['root']),
  },
  app: each(['status', 'restart'], ['owner']),
  rescue: { ...each(['technician', 'reset'], ['console']), shell: ['secret'] },
};

/** What a cell asks for; undefined: nobody may. */
export function needOf(way: Way, stage: Stage, action: Action): Need | undefined {
  const cell = rights[way][action];
  return cell === undefined || Array.isArray(cell)
    ? (cell as Need | undefined)
    : cell[stage as keyof typeof cell];
}

/** Whether somebody on this way, with what was proved, may do it. */
export function may(way: Way, stage: Stage, action: Action, proven: readonly Proof[]): boolean {
  const need = needOf(way, stage, action);
  return need !== undefined && (need.length === 0 || need.some((p) => proven.includes(p)));
}

/** How far the hub is. An owner that is not known yet (null) counts as one. */
export function stageOf(s: { done: boolean; owned: boolean | null }): Stage {
  return s.owned !== false ? 'owned' : s.done ? 'ownerless' : 'new';
}

/** The stage as io.ingle.Setup1 tells it. */
export async function askStage(setup: { Stage(args: object): Promise<{ stage: string }> }): Promise<Stage> {
  return (await setup.Stage({})).stage as Stage;
}
