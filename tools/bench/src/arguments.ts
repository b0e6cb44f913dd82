const flagsWithValue = ['--backend', '--threads'];

/** Splits the arguments of `pnpm bench` into filters and the flags that each bench gets. */
export function splitArguments(args: readonly string[]): {
  readonly filters: readonly string[];
  readonly flags: readonly string[];
} {
  const isFlag = args.map(
    (argument, at) => argument.startsWith('-') || flagsWithValue.includes(args[at - 1] ?? ''),
  );
  return {
    filters: args.filter((_, at) => !isFlag[at]),
    flags: args.filter((argument, at) => isFlag[at] && argument !== '--'),
  };
}
