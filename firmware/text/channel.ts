// What was seen of somebody who interferes on the way to the hub, in a person's words.
import type { Texts } from './i18n.ts';

/** Why a browser takes the other side for somebody else than its hub. */
export type Suspicion = 'altered' | 'wrong_proof' | 'hub_id' | 'owner' | 'rotate';

export const channelTexts: Texts<Suspicion> = {
  en: {
    altered: 'what the hub sent was changed on its way.',
    wrong_proof: 'the other side did not know the code that your hub shows.',
    hub_id: 'another hub answered in the place of yours.',
    owner: 'the hub says that it now belongs to somebody else.',
    rotate: 'a new key was offered that your hub has not signed.',
  },
  ru: {
    altered: 'то, что отправил хаб, изменили по пути.',
    wrong_proof: 'другая сторона не знает кода, который показывает ваш хаб.',
    hub_id: 'вместо вашего хаба ответил другой.',
    owner: 'хаб сообщает, что теперь у него другой владелец.',
    rotate: 'предложен новый ключ, который ваш хаб не подписывал.',
  },
};
