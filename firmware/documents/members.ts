// Those who look at a document.

/** One socket in a room. */
export interface Member {
  send(bytes: Uint8Array): void;
  /** Sends to every other member at once; where it is missing, each is sent to. */
  cast?(bytes: Uint8Array): void;
  /** Asked at each write. */
  readonly canWrite: boolean;
  /** Whose socket it is. */
  readonly who?: string;
}

export function openMembers() {
  const all = new Set<Member>();
  return {
    all: all as ReadonlySet<Member>,
    join: (member: Member) => void all.add(member),
    leave: (member: Member) => void all.delete(member),
    /** To every member, or to all but one; written once for all of them. */
    show(bytes: Uint8Array, but?: Member): void {
      const one = but && all.has(but) ? but : all.values().next().value;
      if (one?.cast) {
        one.cast(bytes);
        if (one !== but) one.send(bytes);
      } else for (const m of all) if (m !== but) m.send(bytes);
    },
  };
}
