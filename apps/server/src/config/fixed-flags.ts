import { type Command, InvalidArgumentError, Option } from 'commander';

/** A flag of other servers whose only value is what this server does anyway. */
interface FixedFlag {
  readonly flags: string;
  /** Spellings of that value; none: a switch. */
  readonly only?: readonly [string, ...string[]];
}

/** Command lines that say them work; another value than the one is refused. */
export const fixedFlags: readonly FixedFlag[] = [
  { flags: '--tensor-parallel-size <n>', only: ['1'] },
  { flags: '--pipeline-parallel-size <n>', only: ['1'] },
  { flags: '--data-parallel-size <n>', only: ['1'] },
  { flags: '--kv-cache-dtype <dtype>', only: ['auto'] },
  { flags: '--tool-call-parser <name>', only: ['minimax-m3', 'minimax_m3'] },
  { flags: '--reasoning-parser <name>', only: ['minimax-m3', 'minimax_m3'] },
  { flags: '--enable-auto-tool-choice' },
  { flags: '--language-model-only' },
  // No code of a checkpoint is ever run.
  { flags: '--trust-remote-code' },
  { flags: '--enable-expert-parallel' },
  { flags: '--enable-chunked-prefill' },
  { flags: '--enable-log-requests' },
  { flags: '--enable-metrics' },
  { flags: '--enable-cache-report' },
  { flags: '--enable-prompt-tokens-details' },
];

/**
 * Adds those that the command does not have as real flags. They have no twin in the environment.
 */
export function addFixedFlags(command: Command): void {
  for (const { flags, only } of fixedFlags) {
    const option = new Option(flags, `only ${only?.[0] ?? 'on'}, which is so anyway`).hideHelp();
    if (command.options.some(({ long }) => long === option.long)) continue;
    command.addOption(only === undefined ? option : option.argParser(exactly(only)));
  }
}

/** True for an option that changes nothing. */
export function isFixed({ flags }: Option): boolean {
  return fixedFlags.some((fixed) => fixed.flags === flags);
}

function exactly(only: readonly string[]): (text: string) => string {
  return (text) => {
    if (only.includes(text)) return text;
    throw new InvalidArgumentError(`This server knows ${only[0]} only.`);
  };
}
