import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hashSecret } from '../../firmware/setup/console-secret.ts';
import { rescueDialog } from '../../firmware/setup/rescue.ts';
import { Left } from '../../firmware/setup/talk.ts';
import { dialogTexts } from '../../firmware/text/dialog.ts';
import { translator } from '../../firmware/text/i18n.ts';
import { rescueTexts } from '../../firmware/text/rescue.ts';

const test = suite('rescue');
const t = translator(rescueTexts, 'en');
const asked = translator(dialogTexts, 'en');

/** Holds the conversation with a person who says `words`: an entry of the menu by its text, or what is asked for. */
async function converse(words: string[], o: { secret?: string; other?: boolean } = {}) {
  const said: string[] = [];
  const done: string[] = [];
  const next = () => {
    const word = words.shift();
    if (word === undefined) throw new Left();
    return word;
  };
  const did = (name: string) => async () => void done.push(name);
  const talk = {
    say: async (text: string) => void said.push(text),
    ask: async (question: string) => {
      said.push(question);
      return next();
    },
    choose: async (_: string, options: string[]) => {
      const word = next();
      const i = options.indexOf(word);
      if (i < 0) throw new Error(`no "${word}" among ${options.join(', ')}`);
      return i;
    },
  };
  const end = await rescueDialog(talk, {
    model: 'generic',
    version: '1.2.3',
    language: 'en',
    secret: o.secret ?? '',
    wait: async (ms) => void done.push(`wait ${ms}`),
    restart: did('restart'),
    check: async () => 'all is well',
    logs: async () => 'what was logged',
    exportJournal: async () => {
      throw new Error('no stick');
    },
    chooseOther: async () => o.other ?? false,
    reset: did('reset'),
    shell: did('shell'),
  }).catch((e: Error) => e);
  return { said, done, end };
}

test('without a console secret there is a menu and no shell', async () => {
  const { said, done } = await converse([t('menu_check'), t('menu_logs'), t('menu_restart')]);
  assert.ok(said.includes('all is well') && said.includes('what was logged'));
  assert.equal(done, ['restart']);
  const { end } = await converse([t('menu_shell')]);
  assert.match((end as Error).message, /no "A shell" among/);
});

test('where there is a console secret, nothing is told and nothing done before it is given', async () => {
  const secret = await hashSecret('hearth');
  const { said, done, end } = await converse(['guess', '', 'hearth', t('menu_shell')], { secret });
  assert.equal(done, ['wait 1000', 'wait 2000', 'shell']);
  assert.equal(
    said.filter((s) => s === asked('login') || s === asked('login_wrong')),
    [asked('login'), asked('login_wrong'), asked('login'), asked('login_wrong'), asked('login')],
  );
  assert.instance(end, Left);
  const gone = await converse(['guess'], { secret });
  assert.equal(gone.done, ['wait 1000']);
});

test('the other version is started only when there is one', async () => {
  assert.equal((await converse([t('menu_other')], { other: true })).done, ['restart']);
  const none = await converse([t('menu_other')]);
  assert.equal(none.done, []);
  assert.ok(none.said.includes(t('other_none')));
});

test('a reset wants its word', async () => {
  const no = await converse([t('menu_reset'), 'yes']);
  assert.equal(no.done, []);
  assert.ok(no.said.includes(t('reset_not')));
  assert.equal((await converse([t('menu_reset'), 'erase'])).done, ['reset', 'restart']);
});

test('what fails is told, and the menu stays', async () => {
  const { said, done } = await converse([t('menu_export'), t('menu_restart')]);
  assert.match(said.join('\n'), /That did not work: /);
  assert.equal(done, ['restart']);
});

test.run();
