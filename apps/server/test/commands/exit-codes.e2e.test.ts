import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { DamagedFolder } from '../makers/damage.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

/** Of a command, where its folder goes. */
type Command = (folder: string, url: string) => readonly string[];

const chat = JSON.stringify([{ role: 'user', content: 'Hi' }]);
const few = ['--max-tokens', '1'];
const commands: Readonly<Record<string, Command>> = {
  serve: (folder) => ['serve', '--model', folder, '--port', '0', '--log-level', 'silent'],
  chat: (folder) => ['chat', folder, '--message', 'Hi', ...few],
  complete: (folder) => ['complete', 'Hi', '--folder', folder, ...few],
  check: (folder) => ['check', folder, '--device', 'cpu'],
  inspect: (folder) => ['inspect', folder],
  tokenize: (folder) => ['tokenize', '--model', folder, 'Hi'],
  'tokenize --chat': (folder) => ['tokenize', '--model', folder, '--chat', chat],
  bench: (folder, url) => ['bench', '--base-url', url, '--num-prompts', '1', '--tokenizer', folder],
};

/** `undefined`: it serves, for texts need no template; so it is not run here. */
const codes = {
  'a missing folder': {
    ...{ serve: 3, chat: 3, complete: 3, check: 3, inspect: 3 },
    ...{ tokenize: 3, 'tokenize --chat': 3, bench: 3 },
  },
  'a broken config': {
    ...{ serve: 3, chat: 3, complete: 3, check: 3, inspect: 3 },
    ...{ tokenize: 0, 'tokenize --chat': 0, bench: 0 },
  },
  'a broken tokenizer': {
    ...{ serve: 3, chat: 3, complete: 3, check: 3, inspect: 0 },
    ...{ tokenize: 3, 'tokenize --chat': 3, bench: 3 },
  },
  'a broken template': {
    ...{ serve: undefined, chat: 3, complete: 0, check: 3, inspect: 0 },
    ...{ tokenize: 0, 'tokenize --chat': 3, bench: 0 },
  },
} as const;

const damages = {
  'a broken config': ['config.json', '{'],
  'a broken tokenizer': ['tokenizer.json', '{}'],
  'a broken template': ['chat_template.jinja', '{% if %}'],
} as const;

describe('the exit code of a command', () => {
  const folders = new Map<string, string>([['a missing folder', '/no/such/folder']]);
  const copies: DamagedFolder[] = [];
  let whole: ModelFolder;
  let server: ScriptedServer;

  beforeAll(async () => {
    whole = await makeModelFolder('T32');
    for (const [fault, [file, text]] of Object.entries(damages)) {
      const copy = new DamagedFolder(whole.path);
      writeFileSync(copy.file(file), text);
      copies.push(copy);
      folders.set(fault, copy.path);
    }
    server = await startScripted();
  });
  afterAll(async () => {
    await server?.close();
    for (const copy of copies) copy.remove();
    whole?.remove();
  });

  const cases = Object.entries(codes).flatMap(([fault, ofCommands]) =>
    Object.entries(ofCommands).flatMap(([command, code]) =>
      code === undefined ? [] : [{ command, fault, code }],
    ),
  );
  it.each(cases)('$command with $fault: $code', async ({ command, fault, code }) => {
    const folder = folders.get(fault) ?? '';
    const result = await altstream(...(commands[command]?.(folder, server.url) ?? []));
    expect([result.code, result.stderr]).toEqual([code, expect.any(String)]);
    expect(result.stderr).not.toMatch(/\n\s+at /);
    // A check says what is wrong in its table.
    if (code !== 0 && command !== 'check') expect(result.stderr).toMatch(/^altstream: /m);
  });

  it.each([
    ...['serve', 'chat', 'complete', 'eval', 'bench', 'check', 'inspect', 'doctor'],
    ...['tokenize', 'openapi', 'env'],
  ])('%s with a flag that there is not: 2', async (command) => {
    const { code, stdout, stderr } = await altstream(command, '--no-such-flag');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/no-such-flag/);
  });

  it('is in the table of the documents', () => {
    const text = readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8');
    const rows = text.split('\n').filter((line) => /^\| `[^|]+` +\|( [\d–]+ +\|){4}$/.test(line));
    const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
    const expected = Object.keys(commands).map((command) => [
      `\`${command}\``,
      ...Object.values(codes).map((of) => String(of[command as keyof typeof of] ?? '–')),
    ]);
    expect(cells.map((row) => row.slice(1, -1))).toEqual(expected);
  });

  it('comes with the name of the flag that named the folder', async () => {
    const said = async (...args: readonly string[]) => (await altstream(...args)).stderr;
    expect(await said('complete', 'a', '--folder', '/no')).toMatch(/pass `--folder DIR`\n$/);
    expect(await said('chat', '/no', '--message', 'a')).toMatch(/pass `altstream chat DIR`\n$/);
    expect(await said('inspect', '/no')).toMatch(/pass `altstream inspect DIR`\n$/);
    expect(await said('tokenize', 'a', '--model', '/no')).toMatch(/pass `--model DIR`\n$/);
    expect(await said('serve', '/no')).toMatch(/pass `--model DIR`\n$/);
  });
});
