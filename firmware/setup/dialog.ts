// The setup conversation: the same steps on any channel that can say, offer choices and ask.
import { toIngleError } from '../protocol/errors.ts';
import type { Caller } from '../system/contract.ts';
import { dialogTexts } from '../text/dialog.ts';
import { type Language, translator } from '../text/i18n.ts';
import { reasonKey, reasonTexts } from '../text/reasons.ts';
import { setupTexts, waitText } from '../text/setup.ts';
import { type Action, askStage, type Stage } from './access.ts';
import { handOver, recover, sayPairing } from './codes-dialog.ts';
import type { setup1 } from './contract.ts';
import { type Progress, stepText } from './progress.ts';
import { Left, type Talk } from './talk.ts';

export interface DialogDeps {
  /** Channel name as Setup1 knows it. */
  channel: 'serial' | 'bot';
  /** Whether this person may do something here (firmware/setup/access.ts), asked before each menu. */
  may(stage: Stage, action: Action): boolean;
  setup: Caller<typeof setup1>;
  language: Language;
  /** Hears Setup1's Progress until the returned function is called. */
  onProgress: Progress;
  /** What only a technician at the device gets; a bot has none of it. */
  technician?: {
    logs(lines: number): Promise<string>;
    network(): Promise<string>;
    /** Asks the hub's technician (root) for the doctor, the factory's self-test, or the journal on a stick. */
    ask(what: 'doctor' | 'selftest' | 'export'): Promise<string>;
  };
}

const wordsIn = (language: Language) => translator(dialogTexts, language);

type Item = [label: string, act: () => Promise<unknown>, action?: Action];

/** What every part of the conversation has. */
interface Conversation extends DialogDeps {
  talk: Talk;
  t: ReturnType<typeof wordsIn>;
}

/** Holds the conversation until the person quits. Nothing is lost by leaving: the state is the hub's. */
export async function setupDialog(talk: Talk, d: DialogDeps): Promise<void> {
  const t = wordsIn(d.language);
  const menu = menuOf({ ...d, talk, t });
  let gone = false;
  const quit: Item = [
    t('menu_quit'),
    async () => {
      gone = true;
    },
  ];

  const { state, detail } = await d.setup.Status({});
  await talk.say(t('hello', { name: detail.name, version: detail.version, state }));
  while (!gone) {
    try {
      const stage = await askStage(d.setup);
      await choose(talk, t('menu'), [...menu.filter(([, , action]) => d.may(stage, action)), quit]);
    } catch (e) {
      if (e instanceof Left) return;
      await talk.say(t('failed', { message: toIngleError(e).message }));
    }
  }
}

/** All there is to choose, each with what somebody must be allowed to be offered it. */
function menuOf(c: Conversation): Required<Item>[] {
  const { talk, t, setup, channel, technician } = c;
  return [
    [t('menu_network'), () => network(c), 'join'],
    [t('menu_sound'), () => sound(c), 'audio'],
    [t('menu_pair'), () => sayPairing(talk, c), 'pair'],
    [t('menu_secrets'), () => secrets(c), 'secrets'],
    [t('menu_status'), () => status(c), 'status'],
    [t('menu_restart'), () => setup.Restart({ channel }), 'restart'],
    [t('menu_finish'), () => setup.Finish({ channel }), 'finish'],
    [t('menu_approve'), () => approve(c), 'approve'],
    [t('menu_recover'), () => recover(c), 'recover'],
    [t('menu_hand_over'), async () => handOver(c, (await askStage(setup)) === 'owned'), 'hand_over'],
    [t('menu_check'), () => work(c, 'doctor', 'checking'), 'technician'],
    [t('menu_selftest'), () => work(c, 'selftest', 'testing'), 'technician'],
    [t('menu_export'), () => work(c, 'export', 'exporting'), 'technician'],
    [t('menu_logs'), async () => talk.say(await technician!.logs(50)), 'technician'],
    [t('menu_doctor'), async () => talk.say(await technician!.network()), 'technician'],
    [t('menu_reset'), () => reset(c), 'reset'],
  ];
}

async function choose(talk: Talk, question: string, items: Item[]): Promise<unknown> {
  const i = await talk.choose(
    question,
    items.map(([label]) => label),
  );
  return items[i]?.[1]();
}

async function network(c: Conversation): Promise<void> {
  const { talk, t, setup, channel } = c;
  await talk.say(t('scanning'));
  const { networks } = await setup.WifiScan({ channel, fresh: true }, 40_000);
  const join = (ssid: string, open: boolean, hidden: boolean) => async () => {
    const psk = open ? '' : await talk.ask(t('ask_psk', { ssid }), true);
    await joined(c, ssid, () => setup.WifiConnect({ channel, ssid, psk, hidden }));
  };
  await choose(talk, t('choose_network'), [
    ...networks
      .slice(0, 20)
      .map(
        ({ ssid, signal, security }): Item => [
          `${ssid}  ${signal} %  ${security}`,
          join(ssid, security === 'open', false),
        ],
      ),
    [t('other_network'), async () => join(await talk.ask(t('ask_name')), false, true)()],
    [t('again'), () => network(c)],
    [t('back'), async () => {}],
  ]);
}

/** Shows progress until the join has an outcome. */
async function joined(c: Conversation, ssid: string, begin: () => Promise<unknown>): Promise<void> {
  const { talk, t, language } = c;
  const progressText = translator(setupTexts, language);
  const reasonText = translator(reasonTexts, language);
  let stop = () => {};
  const outcome = new Promise<string>((resolve) => {
    stop = c.onProgress((step, state, text, detail) => {
      if (step !== 'wifi') return;
      if (state === 'running') void talk.say(stepText(text, detail, language));
      else resolve(state === 'ok' ? '' : String(detail['reason']));
    });
  });
  const beat = setInterval(() => void talk.say(t('still')).catch(() => {}), 10_000);
  try {
    await begin();
    const reason = await outcome;
    await talk.say(
      reason === ''
        ? progressText('wifi_joined', { ssid })
        : progressText('wifi_failed', { ssid, reason: reasonText(reasonKey(reason)) }),
    );
  } finally {
    clearInterval(beat);
    stop();
  }
}

async function sound({ talk, t, setup, channel }: Conversation): Promise<void> {
  const { sinks, sources } = await setup.AudioDevices({ channel });
  if (sinks.length === 0 || sources.length === 0) return talk.say(t('no_devices'));
  const sink =
    sinks[
      await talk.choose(
        t('choose_sink'),
        sinks.map(({ name }) => name),
      )
    ];
  const source =
    sources[
      await talk.choose(
        t('choose_source'),
        sources.map(({ name }) => name),
      )
    ];
  if (!sink || !source) return;
  await talk.say(t('testing'));
  const r = await setup.AudioTest({ channel, sink_id: sink.id, source_id: source.id }, 40_000);
  await talk.say(
    t('tested', {
      verdict: r.verdict,
      corr: r.corr.toFixed(2),
      latency_ms: r.latency_ms.toFixed(1),
      snr_db: r.snr_db.toFixed(1),
    }),
  );
  await choose(talk, t('keep'), [
    [
      t('yes'),
      async () => {
        await setup.AudioSelect({ channel, sink_id: sink.id, source_id: source.id });
        await talk.say(t('kept'));
      },
    ],
    [t('no'), async () => {}],
  ]);
}

async function status({ talk, t, setup }: Conversation): Promise<void> {
  const s = await setup.Status({});
  const rows = { state: s.state, mode: s.mode, attempts: s.attempts, ...s.detail };
  for (const [key, value] of Object.entries(rows))
    await talk.say(t('status_line', { key, value: Array.isArray(value) ? value.join(', ') : String(value) }));
}

async function secrets({ talk, t, setup, language }: Conversation): Promise<void> {
  await talk.say(t('secrets', { ...(await setup.Secrets({})) }));
  const { pin_wait_s } = (await setup.Status({})).detail;
  if (pin_wait_s > 0)
    await talk.say(translator(setupTexts, language)('pin_wait', { wait: waitText(pin_wait_s, language) }));
}

async function approve({ talk, t, setup, channel }: Conversation): Promise<void> {
  await setup.Approve({ channel });
  await talk.say(t('approved'));
}

async function reset({ talk, t, setup }: Conversation): Promise<void> {
  const confirm = await talk.ask(t('reset_ask'));
  if (confirm.trim() !== 'erase') return talk.say(t('reset_not'));
  await setup.FactoryReset({ confirm: 'erase' }, 60_000);
  await talk.say(t('reset_done'));
}

/** What takes its time is told before. */
async function work(
  { talk, t, technician }: Conversation,
  what: 'doctor' | 'selftest' | 'export',
  text: 'checking' | 'testing' | 'exporting',
) {
  await talk.say(t(text));
  await talk.say(await technician!.ask(what));
}
