import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { ChatOutput, ThoughtStyle } from '../chat/answer-display.js';
import { thinkingModes, thoughtStyles } from '../chat/chat-command.js';
import { ChatSession } from '../chat/chat-session.js';
import { Conversation } from '../chat/conversation.js';
import { chooseModel } from '../client/served-models.js';
import { ExitError } from '../errors/index.js';
import { findServer, type Wanted } from './answering-server.js';
import { addClientFlags, type ClientFlags, numberFrom } from './client-flags.js';
import { interruptedExitCode, orExit } from './terminal/or-exit.js';

interface ChatFlags extends ClientFlags {
  readonly message?: string;
  readonly system?: string;
  readonly thinking?: string;
  readonly thoughts: ThoughtStyle;
  readonly tools?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** `altstream chat`: talk to a running server, to a checkpoint, or to the demo model. */
export function addChatCommand(program: Command): void {
  const command = program
    .command('chat')
    .description('talk to a running server, to a checkpoint, or to the demo model')
    .argument('[folder]', 'checkpoint to load for this talk, in place of a running server');
  addClientFlags(command)
    .option('--message <text>', 'ask this one thing, print the answer and end')
    .option('--system <text>', 'system message')
    .addOption(
      new Option('--thinking <mode>', 'of the model (default: its own)').choices(thinkingModes),
    )
    .addOption(
      new Option('--thoughts <how>', 'how thoughts are shown')
        .choices(thoughtStyles)
        .default('shown'),
    )
    .option('--tools <file>', 'JSON list of OpenAI tools; you type the results of calls')
    .option('--max-tokens <n>', 'most tokens of an answer', numberFrom)
    .option('--temperature <t>', '0 = the most likely token', numberFrom)
    .action((folder: string | undefined, flags: ChatFlags) =>
      orExit(() => {
        const isUrlGiven = command.getOptionValueSource('baseUrl') !== 'default';
        const named = { folderName: 'altstream chat DIR', isForChats: true };
        return chat({ folder, ...named, flags, isUrlGiven });
      }),
    );
}

async function chat(request: Wanted & { readonly flags: ChatFlags }): Promise<void> {
  const { flags } = request;
  const tools = flags.tools === undefined ? undefined : readTools(flags.tools);
  const server = await findServer(request);
  try {
    const model = await chooseModel(server.address, flags.model);
    const conversation = new Conversation({
      server: server.address,
      model,
      system: flags.system,
      tools,
      fields: {
        ...(flags.maxTokens === undefined ? {} : { max_tokens: flags.maxTokens }),
        ...(flags.temperature === undefined ? {} : { temperature: flags.temperature }),
      },
    });
    conversation.thinking = flags.thinking;
    await talk(conversation, flags, `Talking to ${model} at ${server.address.baseUrl}.`);
  } finally {
    await server.close();
  }
}

async function talk(conversation: Conversation, flags: ChatFlags, greeting: string): Promise<void> {
  const output: ChatOutput = { answers: process.stdout, notes: process.stderr };
  const { thoughts } = flags;
  const session = new ChatSession({ conversation, output, input: process.stdin, thoughts });
  const interrupt = (): void => {
    session.interrupt();
    if (session.hasLeft) process.exit(interruptedExitCode);
  };
  process.on('SIGINT', interrupt);
  try {
    if (flags.message !== undefined) return await session.ask(flags.message);
    if (process.stdin.isTTY) process.stderr.write(`${greeting} /help lists commands.\n`);
    await session.talk();
    if (session.hasLeft) process.exitCode = interruptedExitCode;
  } finally {
    process.off('SIGINT', interrupt);
  }
}

function readTools(path: string): unknown[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (Array.isArray(value)) return value;
    throw new Error('not a list');
  } catch (cause) {
    const problem = `--tools ${path}: ${(cause as Error).message}`;
    const expected =
      'expected a JSON list of {"type": "function", "function": {"name", "parameters"}}';
    throw new ExitError('usage', `${problem}; ${expected}`, { cause });
  }
}
