// The `ingle` command: each command asks the running hub over D-Bus and says what it answered.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable, IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { version } from '../../firmware/system/config.ts';
import { rotateToken } from '../../firmware/system/token.ts';
import { cliHelp } from '../../firmware/text/cli-help.ts';
import { type Language, translator } from '../../firmware/text/i18n.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { type Parsed as AnyParsed, type Command, commands, groupHelp, parseArgs } from './args.ts';
import { completion, isShell, shells } from './completion.ts';
import { asNoHub, findHub, type Hub } from './find.ts';
import { callApi } from './hub/call.ts';
import { resetDesktop, setDesktop, showDesktop } from './hub/desktop.ts';
import { doctor } from './hub/doctor.ts';
import { exportJournal } from './hub/export.ts';
import { health, secondsOf } from './hub/health.ts';
import { licences } from './hub/licences.ts';
import { mcp } from './hub/mcp.ts';
import { rescue } from './hub/rescue.ts';
import { selftest } from './hub/selftest.ts';
import { finishSetup, restartSetup, setupStatus } from './hub/setup.ts';
import { technician } from './hub/technician.ts';
import { type AccountCommand, account } from './owner/account.ts';
import { restartHub, stopHub } from './owner/control.ts';
import { asker, init } from './owner/init.ts';
import { login } from './owner/login.ts';
import { type PeopleCommand, people } from './owner/people.ts';
import { serve } from './owner/serve.ts';
import { type SubnetCommand, subnet } from './owner/subnet.ts';
import { here } from './place.ts';
import { reference } from './reference.ts';
import { languageOf, type Say, speaker } from './say.ts';
import { type ScenarioCommand, scenario } from './scenario/scenario.ts';
import { plain, when } from './show.ts';
import { isOnHub, type OnHub, onHub } from './skill/on-hub.ts';
import { type SkillCommand, skill } from './skill/skill.ts';

type Parsed = Extract<AnyParsed, { what: 'run' }>;

import { updateCheck, updateInstall, updateRestart, updateRollback, updateStatus } from './hub/update.ts';

type Work = (
  hub: Hub,
  say: Say,
  flags: ReadonlySet<string>,
  args: readonly string[],
  json: boolean,
  values: Readonly<Record<string, string>>,
) => Promise<void>;

/** Commands that find a hub by themselves, also one that is down, or need none. */
type Look =
  | 'api call'
  | PeopleCommand
  | 'say'
  | 'voice listen'
  | 'voice stop'
  | 'voice phrase'
  | 'voice status'
  | 'hook new'
  | 'hook list'
  | 'hook remove'
  | 'hook rotate'
  | 'mcp on'
  | 'mcp off'
  | 'mcp status'
  | 'desktop show'
  | 'desktop set'
  | 'desktop reset'
  | 'completion'
  | 'ui preview'
  | 'ui reference'
  | 'doctor'
  | 'hub stop'
  | 'hub restart'
  | 'health'
  | 'licences'
  | 'selftest'
  | 'journal export'
  | 'technician'
  | 'rescue';

const work: Record<
  Exclude<
    Command,
    'hub serve' | Look | SkillCommand | SubnetCommand | ScenarioCommand | AccountCommand | OnHub
  >,
  Work
> = {
  init: ({ bus }, say, flags, _, json, values) =>
    init(bus.client(uplink1), say, { flags, values, ask: asker(json) }),
  login: ({ bus }, say, flags, _, json) => login(bus, say, { newPasskey: flags.has('new-passkey'), json }),
  async status({ bus }, say) {
    const s = await bus.client(uplink1).Status({});
    say.event({ ...s, expires_at: Number(s.expires_at) });
    say.line(say.text(s.connected ? 'statusConnected' : 'statusOffline', { root: s.root }));
    say.line(
      s.hub_id
        ? say.text('statusEnrolled', { hub_id: s.hub_id, owner_id: s.owner_id, subnet_id: s.subnet_id })
        : say.text('statusNotEnrolled'),
    );
    if (s.hub_id) say.line(say.text('statusBrowsers', { browsers: s.browsers, channels: s.channels }));
    if (s.hub_id) say.line(say.text('statusCertificate', { until: when(s.expires_at) }));
    if (s.insecure) say.line(say.text('insecure'));
    if (s.last_error) say.line(say.text('statusError', { error: plain(s.last_error) }));
    if (!s.connected) process.exitCode = errorTable.unavailable.exit;
  },
  async 'browsers list'({ bus }, say) {
    const { browsers } = await bus.client(uplink1).ListBrowsers({});
    for (const { id, label, paired_at: paired, seen_at: seen } of browsers) {
      say.event({ id, label, paired_at: Number(paired), last_seen: Number(seen) });
      say.line(
        say.text('browsersLine', { id, label: plain(label) || '-', paired: when(paired), seen: when(seen) }),
      );
    }
    if (browsers.length === 0) say.line(say.text('browsersNone'));
  },
  async 'browsers forget'({ bus }, say, _, [id = '']) {
    if (!/^[\w-]{43}$/.test(id)) throw new IngleError('invalid_request', say.text('badBrowserId'));
    await bus.client(uplink1).ForgetBrowser({ id });
    say.event({ forgotten: id });
    say.line(say.text('browserForgotten'));
  },
  async 'browsers rename'({ bus }, say, _, [id = '', label = '']) {
    if (!/^[\w-]{43}$/.test(id)) throw new IngleError('invalid_request', say.text('badBrowserId'));
    await bus.client(uplink1).RenameBrowser({ id, label });
    say.event({ renamed: id, label });
    say.line(say.text('browserRenamed', { label: plain(label) }));
  },
  async 'api token rotate'({ data }, say) {
    const file = join(data, 'api', 'token');
    if (!existsSync(file)) throw new IngleError('not_found', say.text('tokenMissing', { file }));
    rotateToken(file);
    say.event({ rotated: true, file });
    say.line(say.text('tokenRotated', { file }));
  },
  async 'key rotate'({ bus }, say) {
    await bus.client(uplink1).RotateKey({});
    say.event({ rotated: true });
    say.line(say.text('keyRotated'));
  },
  'setup status': ({ bus }, say) => setupStatus(bus, say),
  'setup restart': ({ bus }, say) => restartSetup(bus, say),
  'setup finish': ({ bus }, say) => finishSetup(bus, say),
  'update status': ({ bus }, say) => updateStatus(bus, say),
  'update check': ({ bus }, say, _, __, ___, values) => updateCheck(bus, say, values),
  'update install': ({ bus }, say, _, __, ___, values) => updateInstall(bus, say, values),
  'update restart': ({ bus }, say, flags) => updateRestart(bus, say, flags),
  'update rollback': ({ bus }, say) => updateRollback(bus, say),
};

const looks: Record<
  Look,
  (say: Say, language: Language, values: Readonly<Record<string, string>>, o: Parsed) => Promise<number>
> = {
  async 'api call'(say, _, { body }, { arguments: [method = '', path = ''], lists }) {
    await callApi(await here(), { method, path, query: lists['query'] ?? [], body }, say);
    return 0;
  },
  'people list': (say, language, _, o) => ofPeople('people list', say, language, o),
  'people invite': (say, language, _, o) => ofPeople('people invite', say, language, o),
  'people change': (say, language, _, o) => ofPeople('people change', say, language, o),
  'people remove': (say, language, _, o) => ofPeople('people remove', say, language, o),
  say: (say, _, { lang }, { arguments: [text = ''] }) =>
    asked(say, 'POST', '/api/say', { text, ...(lang ? { lang } : {}) }),
  'voice listen': (say, _, { lang }) => asked(say, 'POST', '/api/voice/wake', lang ? { lang } : {}),
  'voice stop': (say) => asked(say, 'POST', '/api/voice/stop', {}),
  'voice phrase': (say, [value]) => asked(say, 'POST', '/api/voice/phrase', { value }),
  'voice status': (say, _, { lang }) =>
    asked(say, 'GET', `/api/voice${lang ? `?lang=${segment(say, lang)}` : ''}`),
  'hook new': (say, _, __, { arguments: [name = '', topic = ''] }) =>
    asked(say, 'POST', '/api/hooks', { name, topic }),
  'hook list': (say) => asked(say, 'GET', '/api/hooks'),
  'hook remove': (say, _, __, { arguments: [id = ''] }) =>
    asked(say, 'DELETE', `/api/hooks/${segment(say, id)}`),
  'hook rotate': (say, _, __, { arguments: [id = ''] }) =>
    asked(say, 'POST', `/api/hooks/${segment(say, id)}/rotate`),
  'mcp on': (say, language) => ofMcp(say, language, true),
  'mcp off': (say, language) => ofMcp(say, language, false),
  'mcp status': (say, language) => ofMcp(say, language),
  async 'desktop show'(say) {
    await showDesktop(await here(), say);
    return 0;
  },
  async 'desktop set'(say, _, __, { arguments: [file = ''] }) {
    await setDesktop(await here(), file, say);
    return 0;
  },
  async 'desktop reset'(say) {
    await resetDesktop(await here(), say);
    return 0;
  },
  async completion(say, language, _, { arguments: [shell = ''] }) {
    if (!isShell(shell))
      throw new IngleError('invalid_request', say.text('badShell', { shells: shells.join(', ') }));
    const help = translator(cliHelp, language);
    const script = completion(
      shell,
      reference(commands, (of) => help(of as Command)),
    );
    say.event({ shell, script });
    say.line(script.trimEnd());
    return 0;
  },
  async 'ui preview'(say, language, { port }, { arguments: [file = ''] }) {
    const [{ preview }, { previewTextOf }] = await Promise.all([
      import('./ui/preview.ts'),
      import('./ui/text.ts'),
    ]);
    await preview(file, { port, language }, say, previewTextOf(language));
    return 0;
  },
  async 'ui reference'(say, language, { out }) {
    const { writeReference } = await import('./ui/reference.ts');
    await writeReference(out, say, language);
    return 0;
  },
  async 'hub stop'(say, _, { data }) {
    await stopHub(say, data);
    return 0;
  },
  async 'hub restart'(say, _, { data }) {
    await restartHub(say, data);
    return 0;
  },
  doctor: async (say, language) => doctor(await here(), say, language),
  health: (say, language, values, o) =>
    health(here, say, language, { seconds: secondsOf(values['wait'], 0), commit: o.flags.has('commit') }),
  async licences(say) {
    licences(say);
    return 0;
  },
  selftest: async (say, language) => selftest(await here(), say, language),
  async 'journal export'(say, language, _, { arguments: [where = ''] }) {
    await exportJournal(await here(), where, say, language);
    return 0;
  },
  async technician(say, _, __, { flags }) {
    await technician(await here(), say, flags.has('export'));
    return 0;
  },
  async rescue(say) {
    await rescue(await here(), say);
    return 0;
  },
};
async function ofMcp(say: Say, language: Language, on?: boolean): Promise<number> {
  await mcp(await here(), say, language, on);
  return 0;
}
async function ofPeople(command: PeopleCommand, say: Say, language: Language, o: Parsed): Promise<number> {
  await people(command, o, await here(), say, language);
  return 0;
}

/**
 * What a person typed as one segment of a path. "." and "..", however they are written, lead to another path (URL
 * Standard, 4.1).
 * @throws IngleError `not_found`
 */
function segment(say: Say, id: string): string {
  if (/^\.{1,2}$/.test(id)) throw new IngleError('not_found', say.text('noHook', { id }));
  return encodeURIComponent(id);
}

/** Asks the local API by one of its paths. */
async function asked(
  say: Say,
  method: string,
  path: string,
  json?: Readonly<Record<string, unknown>>,
): Promise<number> {
  await callApi(await here(), { method, path, query: [], ...(json ? { json } : {}) }, say);
  return 0;
}

/** The root that the hub hereabouts is configured with. */
async function rootOfHere(): Promise<string> {
  const { config, bus } = await here();
  bus?.close();
  return config.root_url;
}

const isOfSkills = (command: Command): command is SkillCommand =>
  command.startsWith('skill ') && !isOnHub(command);
const isOfSubnet = (command: Command): command is SubnetCommand => command.startsWith('subnet ');
const isOfScenarios = (command: Command): command is ScenarioCommand => command.startsWith('scenario ');
const isOfAccount = (command: Command): command is AccountCommand => command.startsWith('account ');
const isLook = (command: Command): command is Look => Object.hasOwn(looks, command);

/** Runs one command; answers the exit status of the error table. */
export async function main(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json');
  const { stdout, stderr, env } = process;
  const say = speaker({ json, env, out: (t) => stdout.write(t) });
  stdout.on('error', () => process.exit(0));
  try {
    const p = parseArgs(argv, say.text);
    if (p.what === 'version') {
      say.event({ version });
      say.line(version);
    } else if (p.what === 'help') {
      const text = translator(cliHelp, languageOf(env))(p.of);
      say.event({ help: text });
      say.line(text);
    } else if (p.what === 'group') {
      const text = groupHelp(translator(cliHelp, languageOf(env)), p.of);
      say.event({ help: text });
      say.line(text);
    } else if (p.command === 'hub serve') {
      await serve(say, p.values);
    } else if (isLook(p.command)) {
      return await looks[p.command](say, languageOf(env), p.values, p);
    } else if (isOnHub(p.command)) {
      await onHub(p.command, p, say, languageOf(env), asker(json));
    } else if (isOfAccount(p.command)) {
      await account(p.command, { ...p, env, root: rootOfHere }, say, languageOf(env));
    } else if (isOfScenarios(p.command)) {
      await scenario(p.command, p, here, say, languageOf(env));
    } else if (isOfSkills(p.command)) {
      await skill(p.command, p.arguments[0] ?? '', p.values, say, languageOf(env));
    } else {
      const hub = await findHub(say);
      try {
        if (isOfSubnet(p.command))
          await subnet(p.command, hub.bus.client(uplink1), say, languageOf(env), {
            ...{ argument: p.arguments[0] ?? '', yes: p.flags.has('yes'), ask: asker(json) },
          });
        else await work[p.command](hub, say, p.flags, p.arguments, json, p.values);
      } finally {
        hub.bus.close();
      }
    }
    return Number(process.exitCode ?? 0);
  } catch (cause) {
    const e = toIngleError(asNoHub(cause, say));
    stderr.write(json ? `${JSON.stringify(e.body())}\n` : `${e.message}\n`);
    if (e.code === 'internal' && env['INGLE_LOG'] === 'debug') stderr.write(`${(cause as Error).stack}\n`);
    return errorTable[e.code].exit;
  }
}
