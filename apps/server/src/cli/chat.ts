import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import { ExitError } from '../errors/index.js';
import { type ChatTurn, firstModel, streamChat } from './chat-client.js';
import { orExit } from './or-exit.js';

interface ChatFlags {
  readonly url: string;
  readonly model?: string;
  readonly message?: string;
  readonly system?: string;
  readonly thinking?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly apiKey?: string;
}

/** `altstream chat`: talk to a running server. */
export function addChatCommand(program: Command): void {
  program
    .command('chat')
    .description('talk to a running server')
    .option('--url <url>', 'address of the server', 'http://127.0.0.1:8000')
    .option('--model <name>', 'model to ask for (default: the first served one)')
    .option('--message <text>', 'ask this one thing, print the answer and end')
    .option('--system <text>', 'system message')
    .option('--thinking <mode>', 'enabled, disabled or adaptive')
    .option('--max-tokens <n>', 'most tokens of an answer')
    .option('--temperature <t>', '0 = the most likely token')
    .addOption(new Option('--api-key <key>', 'key of the server').env('ALTSTREAM_API_KEY'))
    .action((flags: ChatFlags) => orExit(() => chat(flags)));
}

async function chat(flags: ChatFlags): Promise<void> {
  const server = { url: flags.url.replace(/\/+$/, ''), apiKey: flags.apiKey };
  const model = flags.model ?? (await firstModel(server));
  const history: ChatTurn[] = flags.system ? [{ role: 'system', content: flags.system }] : [];
  const ask = async (content: string): Promise<void> => {
    history.push({ role: 'user', content });
    const body = { model, messages: history, ...samplingOf(flags) };
    history.push(await streamChat(server, body, process.stdout));
  };
  if (flags.message !== undefined) return ask(flags.message);
  await converse(model, ask);
}

/** Reads lines until the end of input or `/exit`. */
async function converse(model: string, ask: (text: string) => Promise<void>): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  process.stdout.write(`Talking to ${model}. /exit or Ctrl-D ends.\n`);
  lines.setPrompt('> ');
  lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/exit') break;
    if (text !== '') await ask(text);
    lines.prompt();
  }
  lines.close();
}

function samplingOf(flags: ChatFlags): Record<string, unknown> {
  return {
    ...(flags.maxTokens === undefined ? {} : { max_tokens: number('max-tokens', flags.maxTokens) }),
    ...(flags.temperature === undefined
      ? {}
      : { temperature: number('temperature', flags.temperature) }),
    ...(flags.thinking === undefined
      ? {}
      : { chat_template_kwargs: { thinking_mode: flags.thinking } }),
  };
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new ExitError('usage', `--${name} is "${text}", expected a number`);
}
