import { defaultGraphSizes } from '@altstream/engine';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Another server's name for one of our flags. */
interface Alias {
  readonly alias: string;
  readonly flag: string;
  /** Reads a value that means something else than the flag's own; default: as the flag reads it. */
  readonly parse?: (text: string, parse: Parse) => unknown;
  /** Said on stderr when the alias is used. */
  readonly warning?: string;
}

type Parse = NonNullable<Option['parseArg']>;

/** sglang's names, and short forms that both have, of flags that vLLM names otherwise. */
export const flagAliases: readonly Alias[] = [
  { alias: '--model-path', flag: '--model' },
  { alias: '--tokenizer-path', flag: '--tokenizer' },
  { alias: '--context-length', flag: '--max-model-len' },
  { alias: '--random-seed', flag: '--seed' },
  { alias: '--tp', flag: '--tensor-parallel-size' },
  { alias: '--tp-size', flag: '--tensor-parallel-size' },
  {
    alias: '--mem-fraction-static',
    flag: '--gpu-memory-utilization',
    warning: 'counts weights and cache only in sglang; here the memory of steps is in it too',
  },
  { alias: '--page-size', flag: '--block-size' },
  { alias: '--max-running-requests', flag: '--max-num-seqs' },
  { alias: '--chunked-prefill-size', flag: '--max-num-batched-tokens' },
  { alias: '--schedule-policy', flag: '--scheduling-policy' },
  { alias: '--disable-overlap-schedule', flag: '--no-async-scheduling' },
  { alias: '--disable-cuda-graph', flag: '--enforce-eager' },
  { alias: '--cuda-graph-max-bs', flag: '--cuda-graph-sizes', parse: sizesUpTo },
  { alias: '--disable-radix-cache', flag: '--no-enable-prefix-caching' },
  { alias: '--max-queued-requests', flag: '--max-num-queued-reqs' },
  { alias: '--fastapi-root-path', flag: '--root-path' },
  { alias: '--disable-fastapi-docs', flag: '--disable-docs' },
];

/** sglang names the largest graph where vLLM lists all of them. */
function sizesUpTo(text: string, parse: Parse): readonly number[] {
  const [largest = 0, ...others] = parse<readonly number[]>(text, []);
  if (others.length > 0) throw new InvalidArgumentError('Expected one number, the largest batch.');
  return defaultGraphSizes(largest);
}

/** An option that sets another one; help does not show it. */
class AliasOption extends Option {
  readonly target: Option;

  constructor({ alias, parse, warning }: Alias, target: Option) {
    super(target.flags.replace(target.long ?? '', alias), `the same as ${target.long}`);
    this.target = target;
    this.negate = target.negate;
    this.variadic = target.variadic;
    this.hidden = true;
    const own = target.parseArg;
    if (!own) return;
    this.parseArg = <T>(text: string, previous: T): T => {
      if (warning !== undefined) process.stderr.write(`altstream: ${alias} ${warning}\n`);
      return (parse ? parse(text, own) : own(text, previous)) as T;
    };
  }

  /** Where commander keeps the value. */
  override attributeName(): string {
    return this.target.attributeName();
  }
}

/** True for an option that {@link addFlagAliases} added. */
export function isAlias(option: Option): boolean {
  return option instanceof AliasOption;
}

/** Adds the aliases of every flag that the command has; call it after all flags are there. */
export function addFlagAliases(command: Command): Command {
  for (const alias of flagAliases) {
    const target = command.options.find(({ long }) => long === alias.flag);
    if (target) command.addOption(new AliasOption(alias, target));
  }
  return command;
}
