import { type Command, InvalidArgumentError, Option } from 'commander';

/** A flag of other servers whose only value is what this server does anyway. */
interface FixedFlag {
  readonly flags: string;
  readonly only?: string;
}

/** Command lines that say them work; another value than the one is refused. */
export const fixedFlags: readonly FixedFlag[] = [
  { flags: '--tensor-parallel-size <n>', only: '1' },
  { flags: '--pipeline-parallel-size <n>', only: '1' },
  { flags: '--data-parallel-size <n>', only: '1' },
  { flags: '--kv-cache-dtype <dtype>', only: 'auto' },
  { flags: '--tool-call-parser <name>', only: 'minimax-m3' },
  { flags: '--reasoning-parser <name>', only: 'minimax-m3' },
  { flags: '--logprobs-mode <mode>', only: 'raw_logprobs' },
  { flags: '--enable-auto-tool-choice' },
  { flags: '--language-model-only' },
];

/** Adds those that the command does not have as real flags. They have no twin in the environment. */
export function addFixedFlags(command: Command): void {
  for (const { flags, only } of fixedFlags) {
    const option = new Option(flags, `only ${only ?? 'on'}, which is so anyway`).hideHelp();
    if (command.options.some(({ long }) => long === option.long)) continue;
    command.addOption(only === undefined ? option : option.argParser(exactly(only)));
  }
}

/** True for an option that changes nothing. */
export function isFixed({ flags }: Option): boolean {
  return fixedFlags.some((fixed) => fixed.flags === flags);
}

function exactly(only: string): (text: string) => string {
  return (text) => {
    if (text === only) return text;
    throw new InvalidArgumentError(`This server knows ${only} only.`);
  };
}
