// What people of a household are called by their role.
import type { PersonRole } from '../protocol/roles.ts';
import type { Language, Texts } from './i18n.ts';

const en = { admin: 'admin', adult: 'adult', kid: 'kid', guest: 'guest' } as const;
const ru: Record<PersonRole, string> = {
  admin: 'администратор',
  adult: 'взрослый',
  kid: 'ребёнок',
  guest: 'гость',
};
const roleTexts: Texts<PersonRole> = { en, ru };

export const roleName = (role: PersonRole, language: Language): string => roleTexts[language][role] as string;
