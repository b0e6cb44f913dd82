/** A command line of a bundle's `run`, or of `pnpm test:gpu` and `pnpm bench:gpu`. */
export interface HostCommand {
  readonly name: string;
  /** Which files: those whose path holds one of the words; all without. */
  readonly filters: readonly string[];
  /** Folder for the full results; `--out`, else `$OUT`. */
  readonly out: string | undefined;
  /** Flags that are handed on as they are, each with its value. */
  readonly flags: readonly string[];
}

const flagsWithValue = new Set([
  '--backend',
  '--threads',
  '-t',
  '--operations',
  '--seconds',
  '--seed',
  '--workers',
  '--tool',
]);

/**
 * Reads `NAME [filter…] [--out FOLDER] [flags]`.
 * @throws Error if a flag lacks its value
 */
export function hostCommand(args: readonly string[], environmentOut?: string): HostCommand {
  const [name = 'help', ...rest] = args.filter((argument) => argument !== '--');
  const filters: string[] = [];
  const flags: string[] = [];
  let out = environmentOut || undefined;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('-')) {
      filters.push(word);
      continue;
    }
    const hasValue = word === '--out' || flagsWithValue.has(word);
    const value = hasValue ? rest.shift() : undefined;
    if (hasValue && value === undefined) throw new Error(`${word} needs a value after it`);
    if (word === '--out') out = value;
    else flags.push(word, ...(value === undefined ? [] : [value]));
  }
  return { name, filters, out, flags };
}
