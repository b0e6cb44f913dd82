import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildByteTokenizer, defaultChatTemplate } from '@altstream/minimax-m3-chat';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream, altstreamPiped } from '../makers/altstream.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const hello = { messages: [{ role: 'user', content: 'Hi' }] };
/** Renders for days. */
const endless = [1, 2, 3, 4].reduce((body) => `{% for i in range(9000) %}${body}{% endfor %}`, '');
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];

describe('altstream tokenize', () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-tokenize-'));
  let server: ScriptedServer;

  beforeAll(async () => {
    const { tokenizerJson } = buildByteTokenizer({ vocabSize: 600 });
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizerJson));
    writeFileSync(join(folder, 'chat_template.jinja'), defaultChatTemplate);
    server = await startScripted();
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const tokenize = (...args: readonly string[]) =>
    altstream('tokenize', '--model', folder, ...args);
  /** What a server with the same files answers. */
  async function served(body: object) {
    const answer = await answered('/tokenize', { ...body, return_token_strs: true });
    const { count, tokens, token_strs } = answer;
    return { count, tokens, token_strs };
  }
  async function answered(path: string, body: object) {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(server.url + path, init);
    return (await answer.json()) as Record<string, unknown>;
  }

  it('shows each token with its text, special ones with theirs', async () => {
    const { code, stdout } = await tokenize('Hé\u001b\n]~b]');
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^ *\d+ {2}/, ''))).toEqual([
      ...['"H"', '"�"', '"�"', '"\\u001b"', '"\\n"', '"]~b]"'],
    ]);
  });

  it.each([
    ['a list of messages', [{ role: 'user', content: 'Hi [e~[' }]],
    [
      'a chat request',
      { messages: [{ role: 'user', content: 'Hi' }], tools, thinking: { type: 'disabled' } },
    ],
  ])('counts %s as the server does', async (_, chat) => {
    const body = Array.isArray(chat) ? { messages: chat } : chat;
    const { stdout } = await altstreamPiped(
      JSON.stringify(chat),
      ...['tokenize', '--model', folder, '--chat', '--format', 'json'],
    );
    const expected = await served(body);
    expect(JSON.parse(stdout)).toEqual(expected);
    const count = await tokenize(JSON.stringify(chat), '--chat', '--format', 'count');
    expect(count.stdout).toBe(`${expected.count}\n`);
  });

  it('renders a chat with the template that it brings', async () => {
    const chat = { messages: [{ role: 'user', content: 'Hi' }], chat_template: '[e~[{{ 1 + 1 }}' };
    const { code, stdout } = await tokenize(JSON.stringify(chat), '--chat', '--format', 'ids');
    const { tokenizer } = server.context;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([tokenizer.specialId('[e~['), ...tokenizer.encode('2')]);
    const empty = JSON.stringify({ ...chat, chat_template: '' });
    const usual = await tokenize(empty, '--chat', '--format', 'json');
    expect(JSON.parse(usual.stdout)).toEqual(await served({ messages: chat.messages }));
  });

  it('shows any number of tokens', async () => {
    const text = 'ab '.repeat(100_000);
    const table = await altstreamPiped(text, 'tokenize', '--model', folder);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    const { tokenizer } = server.context;
    expect(table.stdout.split('\n')).toHaveLength(tokenizer.encode(text).length + 1);
  });

  it('reads what it wrote', async () => {
    const text = 'Hé\n\u0000 世界 [e~[\n';
    const ids = await altstreamPiped(text, 'tokenize', '--model', folder, '--format', 'ids');
    const { tokenizer } = server.context;
    expect(JSON.parse(ids.stdout)).toEqual(tokenizer.encode(text, { specials: true }));
    expect(JSON.parse(ids.stdout)).toContain(tokenizer.specialId('[e~['));
    const back = await altstreamPiped(ids.stdout, 'tokenize', '--model', folder, '--decode');
    expect([back.code, back.stdout]).toEqual([0, text]);
  });

  it('writes what tokens say as JSON, as the server does', async () => {
    const text = 'Hé\n"[e~[';
    const tokens = server.context.tokenizer.encode(text, { specials: true });
    const said = await tokenize('--decode', '--format', 'json', JSON.stringify(tokens));
    expect([said.code, said.stderr]).toEqual([0, '']);
    expect(JSON.parse(said.stdout)).toEqual({ prompt: text });
    expect(JSON.parse(said.stdout)).toEqual(await answered('/detokenize', { tokens }));
  });

  it.each([[[]], [['--chat']], [['--decode']]])(
    'refuses an input that is not UTF-8: %j',
    async (flags) => {
      const input = Buffer.from([0x61, 0xc3, 0xa9, 0xff, 0x62]);
      const refused = await altstreamPiped(input, 'tokenize', '--model', folder, ...flags);
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toMatch(/the standard input is not UTF-8 from byte 3 on; convert it/);
    },
  );

  it.each([
    ['no chat', ['--chat', '{"messages": []}'], /--chat: .*messages/],
    [
      'no template',
      ['--chat', '{"messages": [{"role": "user", "content": "a"}], "chat_template": "{% if %}"}'],
      /--chat: chat_template cannot be parsed: /,
    ],
    [
      'a template without end',
      ['--chat', JSON.stringify({ ...hello, chat_template: endless })],
      /--chat: the chat template cannot be rendered .*: it takes more than 2 s;/,
    ],
    [
      'a template that fails',
      ['--chat', JSON.stringify({ ...hello, chat_template: '{{ no_such() }}' })],
      /--chat: render: the chat template failed/,
    ],
    ['no JSON', ['--chat', '{'], /--chat: /],
    ['no id', ['--decode', '[1, 600]'], /--decode: 600 is no token id; expected 0 to 599/],
    ['ids of a text', ['--decode', '--format', 'ids', '1'], /--format ids is of tokens, .* json/],
    ['a table of a text', ['--decode', '--format', 'table', '1'], /--format table is of tokens/],
    ['two wishes', ['--decode', '--chat', '1'], /contradict each other/],
    ['an unknown format', ['--format', 'xml', 'a'], /table, json, ids, count/],
  ])('says in one sentence what is wrong: %s', async (_, args, sentence) => {
    const { code, stdout, stderr } = await tokenize(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it.each([
    ['no tokenizer', () => join(folder, 'empty'), /there is no tokenizer\.json in that folder/],
    ['a template that fails', () => withTemplate('{{ no_such() }}'), /the chat template failed/],
  ])('ends with 3 for a checkpoint with %s', async (_, make, sentence) => {
    mkdirSync(join(folder, 'empty'), { recursive: true });
    const chat = ['--chat', JSON.stringify(hello)];
    const { code, stdout, stderr } = await altstream('tokenize', '--model', make(), ...chat);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(sentence);
  });

  function withTemplate(template: string): string {
    const other = join(folder, 'other');
    cpSync(join(folder, 'tokenizer.json'), join(other, 'tokenizer.json'));
    writeFileSync(join(other, 'chat_template.jinja'), template);
    return other;
  }
});
