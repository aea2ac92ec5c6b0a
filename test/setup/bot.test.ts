import { spawn } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bot1 } from '../../firmware/setup/bot-contract.ts';
import { introspection } from '../../firmware/system/contract.ts';
import { programOf } from '../lab/program.ts';
import { until } from '../lab/wait.ts';
import { fakeHub } from './fake-hub.ts';

/** A local stand-in of the messenger's bot API: long polling, sending, deleting. */
async function messenger() {
  const updates: object[] = [];
  const sent: { chat_id: number; text: string; buttons: string[] }[] = [];
  const deleted: number[] = [];
  let waiting: ServerResponse | undefined;
  let id = 1;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body = text ? JSON.parse(text) : {};
    const reply = (result: unknown) => response.end(JSON.stringify({ ok: true, result }));
    const [, , method] = (request.url ?? '').split('/');
    if (!request.url?.startsWith('/botTOKEN:1/')) {
      response
        .writeHead(401)
        .end(JSON.stringify({ ok: false, error_code: 401, description: 'Unauthorized' }));
    } else if (method === 'getMe') reply({ id: 1, is_bot: true, first_name: 'Hub', username: 'my_hub_bot' });
    else if (method === 'getUpdates') {
      const fresh = updates.filter((u) => (u as { update_id: number }).update_id >= (body.offset ?? 0));
      if (fresh.length > 0) reply(fresh);
      else {
        waiting = response;
        request.on('close', () => {});
        setTimeout(() => !response.writableEnded && reply([]), 500);
      }
    } else if (method === 'sendMessage') {
      const rows = (body.reply_markup?.inline_keyboard ?? []) as { text: string }[][];
      sent.push({ chat_id: body.chat_id, text: body.text, buttons: rows.flat().map((b) => b.text) });
      reply({ message_id: id++, date: 1, chat: { id: body.chat_id, type: 'private' }, text: body.text });
    } else {
      if (method === 'deleteMessage') deleted.push(body.message_id);
      reply(true);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const from = (chat: number) => ({ id: chat, is_bot: false, first_name: 'A' });
  const push = (u: object) => {
    updates.push({ update_id: id++, ...u });
    if (waiting && !waiting.writableEnded)
      waiting.end(JSON.stringify({ ok: true, result: [updates.at(-1)] }));
  };
  const chatOf = (chat: number) => ({ id: chat, type: 'private', first_name: 'A' });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    deleted,
    write: (chat: number, text: string) =>
      push({ message: { message_id: id++, date: 1, chat: chatOf(chat), from: from(chat), text } }),
    press: (chat: number, n: number) =>
      push({
        callback_query: {
          id: String(id++),
          from: from(chat),
          chat_instance: 'x',
          data: String(n),
          message: { message_id: id++, date: 1, chat: chatOf(chat), text: 'x' },
        },
      }),
    expect: (chat: number, part: string) =>
      until(() => {
        const i = sent.findIndex((m) => m.chat_id === chat && m.text.includes(part));
        return i < 0 ? undefined : sent.splice(0, i + 1).at(-1);
      }, `a message with "${part}"`),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const test = suite('bot');

test('a person with the PIN sets up the hub in a messenger; without it nobody does', async () => {
  const hub = await fakeHub({ online: true, radios: 1 });
  const m = await messenger();
  await hub.setup.begin();
  const child = spawn(process.execPath, programOf('services/bot/main.ts'), {
    env: {
      ...process.env,
      INGLE_BUS_ADDRESS: hub.address,
      INGLE_CONFIG: '/nonexistent',
      INGLE_BOT_TOKEN: 'TOKEN:1',
      INGLE_BOT_API: m.url,
      INGLE_IDLE_MS: '2000',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await until(async () => (await hub.bus.listNames()).includes('io.ingle.Bot1'), 'the bot is on the bus');
  const bot = hub.bus.client(bot1);
  assert.equal(await bot.Start({}), { name: 'my_hub_bot' });
  const xml = await hub.bus.call(bot1.bus, bot1.path, 'org.freedesktop.DBus.Introspectable', 'Introspect');
  assert.ok(String(xml[0]).includes(introspection(bot1)));

  m.write(7, 'hello');
  await m.expect(7, '/start');
  m.write(7, '/start');
  await m.expect(7, '6-digit PIN');
  m.write(8, '/start');
  await m.expect(8, 'Somebody else');
  m.write(7, '000000');
  const wrong = await m.expect(7, 'not the PIN');
  assert.match(wrong.text, /4 more tries, then/);
  for (let left = 3; left > 0; left--) {
    m.write(7, '000000');
    await m.expect(7, left > 1 ? `${left} more tries` : 'One more try');
  }
  m.write(7, '000000');
  await m.expect(7, 'The hub takes the next one in 30 s.');
  m.write(7, '/start');
  await m.expect(7, '6-digit PIN');
  m.write(7, hub.setup.secrets().pin);
  await m.expect(7, 'Too many wrong PINs');
  hub.world.uptime += 30_000;
  m.write(7, '/start');
  await m.expect(7, '6-digit PIN');
  m.write(7, hub.setup.secrets().pin);
  const menu = await m.expect(7, 'What next?');
  assert.equal(menu.buttons.slice(0, 3), ['Wi-Fi', 'Sound', 'Pair a phone']);
  assert.not.ok(
    menu.buttons.some((b) => /PIN|reset|Logs/i.test(b)),
    'nothing of the technician',
  );
  m.press(7, 0);
  const list = await m.expect(7, 'Which network?');
  assert.is(list.buttons[0], 'Home "5G" <b>  88 %  wpa2');
  m.press(7, 0);
  await m.expect(7, 'Password');
  const before = m.deleted.length;
  m.write(7, 'secret pass');
  await m.expect(7, 'The hub is in Home');
  assert.is(m.deleted.length, before + 1, 'the password is taken out of the chat');
  assert.equal(hub.world.joined, ['Home "5G" <b>/secret pass/false']);
  await m.expect(7, 'What next?');
  m.press(7, 2);
  await m.expect(7, 'https://ingle.example/');
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.is(child.exitCode, null, 'an open bot stays, calls or none');
  await bot.Stop({});
  assert.equal(await bot.Status({}), { open: false, name: '', error: '' });
  // Nobody needs it now, and the bus starts it again.
  await until(() => child.exitCode !== null, 'the bot to leave');
  assert.is(child.exitCode, 0);
  m.stop();
  await hub.stop();
});

test.run();
