// What the conversation has about codes: for a phone, for an owner without a passkey, for another owner.
import type { Caller } from '../system/contract.ts';
import { dialogTexts } from '../text/dialog.ts';
import { type Language, translator } from '../text/i18n.ts';
import type { setup1 } from './contract.ts';
import { PAIRING_MS, type Pairing } from './pairing.ts';
import { Left, type Talk } from './talk.ts';

interface Conversation {
  talk: Talk;
  setup: Caller<typeof setup1>;
  language: Language;
}
type Offer = Awaited<ReturnType<Conversation['setup']['Offered']>>;

/** Root is asked, and may take its time. */
const ROOT_MS = 40_000;

const wordsIn = (language: Language) => translator(dialogTexts, language);

/** How long a code is good, and what ends it before. */
function holds({ expires_at }: Pick<Pairing, 'expires_at'>, language: Language): string {
  const minutes = Math.max(1, Math.round((Number(expires_at) - Date.now() / 1000) / 60));
  return wordsIn(language)('code_holds', { minutes });
}

async function sayCode(talk: Pick<Talk, 'say'>, p: Pairing, language: Language): Promise<void> {
  const t = wordsIn(language);
  await talk.say(t('pair', { link: p.link }));
  await talk.say(t('pair_code', { host: new URL(p.link).host, code: `${p.device_code} ${p.secret}` }));
  await talk.say(holds(p, language));
}

/** The pairing link and code, as a person reads them. */
export async function sayPairing(
  talk: Pick<Talk, 'say'>,
  d: Pick<Conversation, 'setup' | 'language'>,
): Promise<void> {
  await sayCode(talk, await d.setup.PairingLink({}, PAIRING_MS), d.language);
}

/** For an owner who has lost every passkey. */
export async function recover({ talk, setup, language }: Conversation): Promise<void> {
  const t = wordsIn(language);
  await talk.say(t('recover_does'));
  await sayCode(talk, await setup.RecoveryLink({}, PAIRING_MS), language);
  await talk.say(t('recover_next'));
}

/**
 * From one owner to another: the code for the new one, and, once they have taken the hub at root, the yes of the person
 * here. Until then nothing at the hub has changed.
 * @param isOwned a browser is paired
 */
export async function handOver(c: Conversation, isOwned: boolean): Promise<void> {
  const { talk, setup, language } = c;
  const t = wordsIn(language);
  const offer = await setup.Offered({}, ROOT_MS);
  if (offer.changes.length > 0) return confirm(c, offer);
  if (!isOwned) return talk.say(t('hand_over_nobody'));
  await talk.say(t('hand_over_how'));
  if ((await talk.choose(t('hand_over_ask'), [t('yes'), t('no')])) !== 0) return talk.say(t('hand_over_not'));
  const p = await setup.PairingLink({}, PAIRING_MS);
  // The second group would let a browser in; root needs the first alone.
  await talk.say(t('hand_over_code', { code: p.device_code }));
  await talk.say(holds(p, language));
  await talk.say(t('hand_over_next'));
}

/** The person reads exactly what would change, and types what cannot be typed by mistake. */
async function confirm(c: Conversation, { changes, ...place }: Offer): Promise<void> {
  const { talk, setup, language } = c;
  const t = wordsIn(language);
  await talk.say(t('hand_over_offered'));
  for (const change of changes) {
    const field = Object.hasOwn(dialogTexts.en, change.field) ? t(change.field as 'owner_id') : change.field;
    await talk.say(t('hand_over_change', { ...change, field }));
  }
  await talk.say(t('hand_over_forgets'));
  await talk.say(t('hand_over_doubt'));
  const { host } = new URL(place.app_url);
  if ((await talk.ask(t('hand_over_type', { host }))).trim() !== host) return talk.say(t('hand_over_not'));
  await setup.Adopt(place, ROOT_MS);
  await talk.say(t('hand_over_done'));
  try {
    const p = await setup.PairingLink({}, PAIRING_MS);
    await talk.say(t('hand_over_pair'));
    await sayCode(talk, p, language);
  } catch (e) {
    if (e instanceof Left) throw e;
    await talk.say(t('hand_over_later'));
  }
}
