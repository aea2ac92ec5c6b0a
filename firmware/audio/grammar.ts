// Yes or no, for pocketsphinx: the grammar it is given, and what its words mean. Pure.

/** JSGF grammar of the answers. The fillers take what is neither, so that noise need not become a yes. */
export const yesNoGrammar = `#JSGF V1.0;
grammar answer;
<yes> = yes | yeah | yep | okay | sure;
<no> = no | nope;
public <answer> = <yes> | <no>;
`;

const yes = new Set(['yes', 'yeah', 'yep', 'okay', 'sure']);
const no = new Set(['no', 'nope']);

export type Answer = 'yes' | 'no' | 'none';

/** What the recogniser's line means. */
export function answerOf(hypothesis: string): { answer: Answer; phrase: string } {
  const words = hypothesis
    .toLowerCase()
    .split(/[^a-z']+/)
    .filter((w) => yes.has(w) || no.has(w));
  const first = words[0];
  if (first === undefined) return { answer: 'none', phrase: '' };
  return { answer: yes.has(first) ? 'yes' : 'no', phrase: first };
}
