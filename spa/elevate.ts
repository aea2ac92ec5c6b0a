// The hub asks for the passkey before it shows something; the question comes when it is asked.
import { part } from './part.ts';

export const Elevate = part<{ title: string; done(): void }>(() =>
  import('./elevate-question.ts').then((m) => m.Question),
);
