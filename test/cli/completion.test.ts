// What the shells offer after `ingle`, asked of real shells: bash, zsh on a terminal of its own, and fish.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cliHelp } from '../../firmware/text/cli-help.ts';
import { languages, translator } from '../../firmware/text/i18n.ts';
import { type Command, commands } from '../../services/cli/args.ts';
import { completion, isShell, type Shell, shells } from '../../services/cli/completion.ts';
import { levels, reference, type Table } from '../../services/cli/reference.ts';

const test = suite('completion');
const dir = mkdtempSync(join(tmpdir(), 'ingle-completion-'));
const here = join(dir, 'here');
test.before(() => {
  spawnSync('mkdir', ['-p', join(here, 'in a folder')]);
  writeFileSync(join(here, 'in.raucb'), '');
});
test.after(() => rmSync(dir, { recursive: true, force: true }));

const real = (language: (typeof languages)[number] = 'en') =>
  reference(commands, (of) => translator(cliHelp, language)(of as Command));

/** What is offered for a line: words, and what is said of each where the shell shows it. */
type Offered = Map<string, string>;

/** Runs a shell where only itself is found, so that a script that asked a program would fail. */
function run(shell: string, args: string[], input = ''): string {
  const r = spawnSync(shell, args, {
    cwd: here,
    input,
    encoding: 'utf8',
    env: { HOME: dir, PATH: '/nonexistent', TERM: 'xterm', LANG: 'C.UTF-8', COLUMNS: '1000' },
    timeout: 60_000,
  });
  assert.is(r.stderr, '', `${shell}: ${r.stderr}`);
  return r.stdout;
}

const ask: Record<Shell, (file: string, lines: readonly string[]) => Offered[]> = {
  bash(file, lines) {
    const asked = lines.map((l) => {
      // As readline cuts a line: an equals sign is a word of its own.
      const words = l
        .split(' ')
        .flatMap((w) => w.split(/(=)/).filter((p, i, all) => p || all.length === 1 || i === -1));
      return `ask ${words.map((w) => `'${w.replaceAll("'", `'\\''`)}'`).join(' ')}`;
    });
    const out = run('/usr/bin/bash', [
      '--norc',
      '-c',
      `source '${file}'; ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ingle; printf '%s\\n' "\${COMPREPLY[@]}" ---; }\n${asked.join('\n')}`,
    ]);
    return cut(out, lines.length, '\0');
  },
  zsh(file, lines) {
    const out = join(dir, 'offered');
    const rc = join(dir, 'rc');
    rmSync(out, { force: true });
    writeFileSync(rc, zshThatTells(file, out));
    run('/usr/bin/zsh', ['-f', '-c', zshAtTerminal, 'zsh', rc, out, ...lines]);
    assert.ok(existsSync(out), `zsh did not answer "${lines[0]}"`);
    return cut(readFileSync(out, 'utf8'), lines.length, '\t');
  },
  fish(file, lines) {
    const asked = lines.map((l) => `complete -C '${l.replace(/[\\']/g, '\\$&')}'; echo ---`);
    return cut(
      run('/usr/bin/fish', ['--no-config', '-c', `source '${file}'\n${asked.join('\n')}`]),
      lines.length,
      '\t',
    );
  },
};

function cut(out: string, count: number, between: string): Offered[] {
  const parts = out.split('---\n').slice(0, -1);
  assert.is(parts.length, count, out);
  return parts.map(
    (p) =>
      new Map(
        p
          .split('\n')
          .filter(Boolean)
          .map((l) => l.split(between, 2) as [string, string])
          .map(([word, about = '']) => [word, about.replace(/^.*? +-- /, '')]),
      ),
  );
}

/** Types each line and a Tab into zsh on a terminal, which takes a while to start, and waits for what it writes down. */
const zshAtTerminal = `zmodload zsh/zpty zsh/zselect
zpty -b z /usr/bin/zsh -f -i
zpty -w z "source $1"
out=$2
shift 2
integer lines=0 n
typeset -a told
for line; do
  zpty -w -n z $'\\x15'"$line"$'\\t'
  (( lines++ ))
  n=0
  until [[ -e $out ]] && told=(\${(M)\${(f)"$(< $out)"}:#---}) && (( $#told >= lines )); do
    while zpty -r -t z answer; do :; done
    zselect -t 1
    (( n++ < 2000 )) || break 2
  done
done
zpty -d z`;

/** zsh with a compadd that writes down what is added: the words, and how each is shown. */
const zshThatTells = (file: string, out: string) => `PROMPT= COLUMNS=1000
autoload -Uz compinit; compinit -D -u; path=(/nonexistent)
source '${file}'
zstyle ':completion:*' insert-tab false
zstyle ':completion:*' list-grouped false
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a __hits __said; local __i __name
  if (( $@[(I)-d] )); then
    __name=\${@[$[\${@[(i)-d]}+1]]}
    if [[ $__name == \\(* ]]; then eval "__said=$__name"; else __said=("\${(@P)__name}"); fi
  fi
  builtin compadd -A __hits -D __said "$@"
  for ((__i = 1; __i <= $#__hits; __i++)); do print -r -- "$IPREFIX$__hits[__i]"$'\\t'"$__said[__i]" >> '${out}'; done
  builtin compadd "$@"
}
__tell() { zle complete-word; print -r -- --- >> '${out}' }
zle -N __tell
bindkey '^I' __tell
`;

function scriptOf(shell: Shell, r = real()): string {
  const file = join(dir, `ingle.${shell}`);
  writeFileSync(file, completion(shell, r));
  run(`/usr/bin/${shell}`, ['-n', file]);
  return file;
}
const sorted = (o: Iterable<string>) => [...new Set(o)].sort();

for (const shell of shells) {
  test(`${shell} offers every word of every command, level by level`, () => {
    const all = [...levels(real())];
    const offered = ask[shell](
      scriptOf(shell),
      all.map(([at]) => `ingle ${at}${at && ' '}`),
    );
    for (const [i, [at, items]] of all.entries()) {
      const want = items.map((item) => item.head);
      assert.equal(sorted(offered[i]!.keys()), sorted(at === '' ? [...want, 'help'] : want), `after "${at}"`);
    }
  });

  test(`${shell} offers the options of every command`, () => {
    const some = real().commands;
    const offered = ask[shell](
      scriptOf(shell),
      some.map((c) => `ingle ${c.words} --`),
    );
    for (const [i, c] of some.entries())
      assert.equal(
        sorted(offered[i]!.keys()),
        sorted([...c.options.map((o) => o.name), '--json', '--help']),
        c.words,
      );
  });

  test(`${shell} offers what an option or an argument takes, and files where they are taken`, () => {
    const wanted: [line: string, offered: string[]][] = [
      ['ingle br', ['browsers']],
      ['ingle --', ['--json', '--help', '--version']],
      ['ingle help up', ['update']],
      ['ingle help update r', ['restart', 'rollback']],
      ['ingle --json browsers f', ['forget']],
      ['ingle browsers forget ', []],
      ['ingle nonsense ', []],
      ['ingle completion ', ['bash', 'zsh', 'fish']],
      ['ingle api call D', ['DELETE']],
      ['ingle api call GET ', []],
      ['ingle update install --restart ', ['now', 'night']],
      ['ingle update install --restart n', ['now', 'night']],
      ['ingle update install --restart now --so', ['--source']],
      ['ingle update install --source s', ['stream']],
      ['ingle update install --source in', ['in.raucb', 'in a folder']],
      ['ingle update install --source=in.', ['in.raucb']],
      ['ingle journal export in', ['in a folder']],
      ['ingle journal export u', ['usb']],
      ['ingle status in', []],
    ];
    const offered = ask[shell](
      scriptOf(shell),
      wanted.map(([line]) => line),
    );
    // Each shell writes a path and a value behind an equals sign in its own way.
    const plain = (word: string) =>
      word
        .replace(/^--source=/, '')
        .replaceAll('\\', '')
        .replace(/\/$/, '');
    for (const [i, [line, want]] of wanted.entries())
      assert.equal(sorted([...offered[i]!.keys()].map(plain)), sorted(want), line);
    const [after] = ask[shell](scriptOf(shell), ['ingle update install --restart=n']);
    assert.equal(sorted([...after!.keys()].map((w) => w.replace('--restart=', ''))), ['night', 'now']);
  });

  test(`whatever a table and its help say, ${shell} runs none of it and shows it as it is`, () => {
    const evil = `it's "a" $HOME $(touch X) \`touch X\` [b] c:d \\ {e,f} * %F{red} %(!.X.Y) ; touch X | & < > ~ !! # ''`;
    const word = `w'"$(touch\${IFS}X)\`touch\${IFS}X\`;:[a]\\`;
    const table: Table = {
      [word]: { flags: [word], values: ['at'], takes: { at: [word] } },
      plain: { arguments: ['x'], takes: { x: [word] } },
    };
    const help: Record<string, string> = {
      top: `ingle   top\n\n  ${word}   ${evil}\n  plain   ${evil}\n  --json   ${evil}\n  --help   \x1b]0;x\x07${evil}`,
      [word]: `ingle\n${evil}\n  --${word}   ${evil}`,
      plain: `ingle\n'\n${evil}`,
    };
    const script = scriptOf(
      shell,
      reference(table, (of) => help[of]!),
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    assert.not.match(readFileSync(script, 'utf8'), /[\x00-\x09\x0b-\x1f\x7f]/);
    const [top, options, value] = ask[shell](script, ['ingle ', 'ingle plain --', 'ingle plain ']);
    assert.is(top!.size, 3);
    assert.is(value!.size, 1);
    // bash and zsh give a word as it must be typed.
    const typed = shell === 'fish' ? word : word.replace(/[^\w:]/g, '\\$&');
    for (const offered of [top!, value!])
      assert.equal(
        sorted(offered.keys()).filter((w) => w.startsWith('w')),
        [typed],
      );
    assert.equal(sorted(options!.keys()), ['--help', '--json']);
    if (shell !== 'bash') {
      assert.is(top!.get('plain'), evil);
      assert.is(options!.get('--json'), evil);
    }
    assert.equal(readdirSync(here).sort(), ['in a folder', 'in.raucb']);
  });
}

test('descriptions are in the language of who asks, and the words stay', () => {
  for (const language of languages) {
    const [offered] = ask.fish(scriptOf('fish', real(language)), ['ingle stat']);
    assert.equal(
      [...offered!],
      [['status', translator(cliHelp, language)('top').match(/^ {2}status +(.*)$/m)![1]]],
    );
  }
});

test('the table names exactly the shells there are', () => {
  assert.equal(commands.completion.takes.shell, shells);
  for (const name of ['bash ', 'sh', '__proto__', '']) assert.not(isShell(name));
});

test.run();
