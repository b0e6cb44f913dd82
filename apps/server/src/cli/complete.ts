import type { Command } from 'commander';
import { askCompletion } from '../client/ask-completion.js';
import { counted } from '../client/counted.js';
import { printable } from '../client/printable.js';
import { chooseModel } from '../client/served-models.js';
import { ExitError } from '../errors/index.js';
import { findServer } from './answering-server.js';
import { addClientFlags, type ClientFlags, numberFrom } from './client-flags.js';
import { interruptibly } from './terminal/interruptibly.js';
import { orExit } from './terminal/or-exit.js';
import { argumentOrInput } from './terminal/read-input.js';

interface CompleteFlags extends ClientFlags {
  readonly folder?: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly echo?: boolean;
}

/** `altstream complete`: continue one text, without a chat's template. */
export function addCompleteCommand(program: Command): void {
  const command = program
    .command('complete')
    .description('continue a text; the completion and nothing else goes to the standard output')
    .argument('[prompt]', 'the text (default: all of the standard input)');
  addClientFlags(command)
    .option('--folder <dir>', 'checkpoint to load for this, in place of a running server')
    .option('--max-tokens <n>', 'most tokens', numberFrom, 128)
    .option('--temperature <t>', '0 = the most likely token', numberFrom)
    .option(
      '--top-p <p>',
      'of the likeliest tokens that together have this probability',
      numberFrom,
    )
    .option('--seed <n>', 'the same seed, the same completion', numberFrom)
    .option('--stop <texts...>', 'end before any of these')
    .option('--echo', 'print the prompt, too')
    .action((prompt: string | undefined, flags: CompleteFlags) =>
      orExit(() => complete(prompt, flags, command.getOptionValueSource('baseUrl') !== 'default')),
    );
}

async function complete(
  argument: string | undefined,
  flags: CompleteFlags,
  isUrlGiven: boolean,
): Promise<void> {
  const prompt = await argumentOrInput(argument);
  if (prompt === '') {
    throw new ExitError('usage', 'there is no prompt; pass one, or a text as the standard input');
  }
  const { folder } = flags;
  const named = { folderName: '--folder DIR', isForChats: false };
  const server = await findServer({ folder, ...named, flags, isUrlGiven });
  try {
    const model = await chooseModel(server.address, flags.model);
    const isTerminal = process.stdout.isTTY === true;
    const onText = (text: string): void => {
      process.stdout.write(isTerminal ? printable(text) : text);
    };
    const end = await interruptibly((signal) =>
      askCompletion(server.address, bodyOf(model, prompt, flags), { signal, onText }),
    );
    if (isTerminal) process.stdout.write('\n');
    const { completionTokens, finishReason } = end;
    const length = completionTokens === undefined ? [] : [counted(completionTokens, 'token')];
    process.stderr.write(`[${[...length, finishReason ?? 'ended'].join(', ')}]\n`);
  } finally {
    await server.close();
  }
}

function bodyOf(model: string, prompt: string, flags: CompleteFlags): Record<string, unknown> {
  const { maxTokens, temperature, topP, seed, stop, echo } = flags;
  const fields = {
    model,
    prompt,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    seed,
    stop,
    echo,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
