import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { cliTexts } from '../../firmware/text/cli.ts';
import { cliHelp } from '../../firmware/text/cli-help.ts';
import { translator } from '../../firmware/text/i18n.ts';
import { commands, groupHelp, parseArgs, type Shape } from '../../services/cli/args.ts';
import { languageOf } from '../../services/cli/say.ts';
import { clock, grouped, plain, qr, scanned, when } from '../../services/cli/show.ts';

const test = suite('ingle arguments');
const text = translator(cliTexts, 'en');
const parse = (line: string) => parseArgs(line === '' ? [] : line.split(' '), text);
const refused = (line: string): string => {
  try {
    parse(line);
  } catch (e) {
    assert.instance(e, IngleError);
    assert.is((e as IngleError).code, 'invalid_request');
    return (e as IngleError).message;
  }
  throw new Error(`"${line}" was taken`);
};

test('each command is found by its words', () => {
  for (const [command, shape] of Object.entries(commands)) {
    const args = 'arguments' in shape ? shape.arguments.map(() => 'x') : [];
    const p = parseArgs([...command.split(' '), ...args, '--json'], text);
    assert.is(p.what, 'run');
    assert.is(p.what === 'run' && p.command, command);
  }
});

test('options are taken with a blank or an equals sign', () => {
  for (const line of ['hub serve --root https://x --data d', 'hub serve --root=https://x --data=d']) {
    const p = parse(line);
    assert.equal(p.what === 'run' && p.values, { root: 'https://x', data: 'd' });
  }
  const p = parse('login --new-passkey');
  assert.ok(p.what === 'run' && p.flags.has('new-passkey'));
});

test('an option that may be given several times keeps all, in order, with what is behind an equals sign', () => {
  const p = parse('api call GET /x --query a=1 --query=b=2 --body -');
  assert.equal(p.what === 'run' && [p.lists, p.values], [{ query: ['a=1', 'b=2'] }, { body: '-' }]);
  assert.match(refused('api call GET /x --query'), '--query wants a value');
});

test('what the table offers belongs to an option or an argument it has', () => {
  for (const [command, shape] of Object.entries(commands) as [string, Shape][])
    for (const [name, words] of Object.entries(shape.takes ?? {})) {
      const known = [...(shape.values ?? []), ...(shape.lists ?? []), ...(shape.arguments ?? [])];
      assert.ok(known.includes(name), `${name} of ${command}`);
      assert.ok(words.length > 0);
    }
});

test('every command has help, by any of its spellings, in both languages', () => {
  for (const command of Object.keys(commands) as (keyof typeof commands)[]) {
    for (const line of [`${command} --help`, `help ${command}`, `${command} -h`])
      assert.equal(parse(line), { what: 'help', of: command });
    for (const language of ['en', 'ru'] as const)
      assert.match(translator(cliHelp, language)(command), `ingle ${command}`);
  }
  for (const line of ['', 'help', '--help', '-h']) assert.equal(parse(line), { what: 'help', of: 'top' });
  assert.equal(parse('--version'), { what: 'version' });
  assert.equal(parse('status --version'), { what: 'version' });
});

test('the first words of several commands print these, in both languages', () => {
  for (const group of ['browsers', 'key', 'update', 'api', 'api token', 'setup', 'journal', 'hub'])
    for (const line of [group, `${group} --help`, `help ${group}`]) {
      assert.equal(parse(line), { what: 'group', of: group });
      for (const language of ['en', 'ru'] as const) {
        const help = groupHelp(translator(cliHelp, language), group);
        for (const command of Object.keys(commands))
          assert.is(
            help.includes(`  ${command} `),
            command.startsWith(`${group} `),
            `${command} in ${group}`,
          );
      }
    }
});

test('what is wrong is named, with the way to help', () => {
  assert.match(refused('stats'), '"stats"');
  assert.match(refused('status --fast'), /"--fast" is not known to "status".*ingle status --help/);
  assert.match(refused('status now'), '"now"');
  assert.match(refused('browsers forget'), 'id');
  assert.match(refused('hub serve --root'), '--root wants a value');
  assert.match(refused('login --new-passkey=yes'), '--new-passkey=yes');
  assert.match(refused('help nothing'), '"nothing"');
  assert.match(refused('api tokens'), '"api tokens"');
  assert.match(refused('browsers lost'), '"browsers lost"');
  assert.match(refused('status -x'), '"-x"');
});

test('a browser is named by its id also where that begins with a hyphen', () => {
  const id = `-${'a-_9'.repeat(11).slice(0, 42)}`;
  const p = parse(`browsers forget ${id} --json`);
  assert.equal(p.what === 'run' && p.arguments, [id]);
  assert.match(refused(`status ${id}`), id);
});

test('hostile words are refused without a crash and without driving the terminal', () => {
  const word = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '__proto__',
      'constructor',
      '--',
      '-',
      '--=',
      '\x1b[2J',
      '--root',
      'login',
      'toString',
      'x'.repeat(10_000),
    ),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
      try {
        parseArgs(argv, text);
      } catch (e) {
        assert.is((e as IngleError).code, 'invalid_request');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
        assert.not.match((e as IngleError).message, /[\x00-\x1f\x7f-\x9f]/);
        assert.ok((e as IngleError).message.length < 300);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a label of another party cannot drive the owner's terminal", () => {
  assert.is(plain('a\x1b[31mb\u202ec\n'), 'a[31mbc');
  assert.is(plain('x'.repeat(500)).length, 80);
});

test('the language follows the locale of the terminal', () => {
  assert.is(languageOf({ LANG: 'ru_RU.UTF-8' }), 'ru');
  assert.is(languageOf({ LC_ALL: 'C', LANG: 'ru_RU.UTF-8' }), 'en');
  assert.is(languageOf({ INGLE_LANG: 'ru', LANG: 'en_US' }), 'ru');
  assert.is(languageOf({}), 'en');
});

test('codes, times and QR look as people read them', () => {
  assert.is(grouped('482913', '507226'), '482-913 507-226');
  assert.is(grouped('482-913', '507-226'), '482-913 507-226');
  assert.is(clock(545), '9:05');
  assert.is(clock(-1), '0:00');
  assert.is(when(0), '-');
  const lines = qr('https://hub.example/#v1.abc', false).split('\n');
  assert.ok(lines.length > 10);
  assert.ok(lines.every((l) => /^[█▀▄ ]+$/.test(l) && l.length === lines[0]!.length));
  // The quiet zone of the uncoloured one is drawn: light modules are the blocks.
  assert.match(lines[0]!, /^█+$/);
  assert.match(qr('x', true), '\x1b[38;5;16;48;5;231m');
});

test('no QR code is offered for an address that works on this computer only', () => {
  const say = { text };
  for (const at of [
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://[::1]:8080',
    'http://hub.localhost',
  ]) {
    const text = scanned(`${at}/#v1.abc`, false, say);
    assert.not.match(text, '█');
    assert.match(text, 'tailscale serve --bg');
  }
  assert.match(scanned('http://localhost:8137/#v1.abc', false, { text }), 'http://localhost:8137\n');
  assert.is(
    scanned('https://hub.example/#v1.abc', false, { text }),
    qr('https://hub.example/#v1.abc', false),
  );
});

test.run();
