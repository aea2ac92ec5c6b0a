// What the ladder needs of the rest of the hub. services/setup makes these from D-Bus; tests make faults.
import type { Language } from '../text/i18n.ts';
import type { SetupDevice, SetupNetwork } from './contract.ts';
import type { Pairing } from './pairing.ts';

export interface AudioOutcome {
  ok: boolean;
  /** A named failure when not ok (firmware/audio verdicts), or `late`. */
  reason: string;
  sink_id?: string;
  source_id?: string;
}

export interface AudioPort {
  /** The whole audio wizard; settles early when `signal` aborts. */
  probe(signal: AbortSignal): Promise<AudioOutcome>;
  /** A short test of the known pair, or of the best one. */
  retest(signal: AbortSignal): Promise<AudioOutcome>;
  devices(): Promise<{
    sinks: SetupDevice[];
    sources: SetupDevice[];
  }>;
  test(
    sink: string,
    source: string,
  ): Promise<{ verdict: string; corr: number; latency_ms: number; snr_db: number }>;
  select(sink: string, source: string): Promise<void>;
  /** Says texts through every output in turn, slowly. */
  say(texts: { text: string; language: Language }[]): Promise<void>;
}

export interface WifiOutcome {
  ok: boolean;
  /** wrong_password, not_found, no_address, no_internet, no_radio, timeout … */
  reason: string;
}

export interface WifiPort {
  radios(): Promise<number>;
  scan(fresh: boolean): Promise<{ networks: SetupNetwork[]; age_s: number }>;
  connect(n: { ssid: string; psk: string; hidden: boolean }): Promise<WifiOutcome>;
}

/** What a channel is opened for. */
export interface OpenFor {
  /** Of the access point. */
  ssid: string;
  psk: string;
  /** Without anybody it may end by itself after this. */
  idle_s: number;
}

/** A channel that is opened and closed with the window: the access point, BLE, the bot. */
export interface ChannelPort {
  name: 'softap' | 'ble' | 'bot';
  /**
   * On what it would open now; empty while there is nothing. Another answer is a new chance.
   * @param take the device may be taken out of other use
   * @throws while nobody can tell
   */
  device(take: boolean): Promise<string>;
  /** Whether it is up, or comes up by itself; a channel that tells its end leaves this out. */
  serving?(): Promise<boolean>;
  start(o: OpenFor): Promise<void>;
  stop(): Promise<void>;
  /** Lets in, for a short time, who could prove nothing (Improv over BLE). */
  approve?(): Promise<void>;
  /** Follows its end without a stop; `again`: it is worth starting anew. Told also once it was not there. */
  onEnded?(f: (again: boolean) => void): Promise<void>;
}

/** Whose the hub is, and where its application is. */
export interface Place {
  owner_id: string;
  subnet_id: string;
  hub_id: string;
  app_url: string;
}

export interface Ports {
  audio: AudioPort;
  wifi: WifiPort;
  channels: ChannelPort[];
  /** Whether root (or its stand-in) can be reached now. */
  online(): Promise<boolean>;
  /** Whether a Wi-Fi network is known or a cable is plugged in; with neither, setup alone can give the hub one. */
  hasNetwork(): Promise<boolean>;
  /** Whether a browser is paired. @throws while the link's service does not answer */
  owned(): Promise<boolean>;
  /** @param newPasskey the phone may register a passkey though the owner has one */
  pairing(newPasskey: boolean): Promise<Pairing>;
  /** The place root offers, and what differs from the hub's own. */
  offered(): Promise<Place & { changes: { field: string; was: string; now: string }[] }>;
  /** Takes the place a person has confirmed; everybody who was let in is forgotten. */
  adopt(confirmed: Place): Promise<void>;
  /** Erases everything kept, of every service, and restarts them. */
  erase(): Promise<void>;
}
