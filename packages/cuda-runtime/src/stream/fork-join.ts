import type { Stream } from '../contract.js';
import { suppress } from '../errors/suppress.js';

/** A stream and what to submit on it. */
export type Branch = readonly [stream: Stream, body: () => void];

/** Options of `forkJoin`. */
export interface ForkJoinOptions {
  /**
   * Which side submits first. It decides how many streams a captured graph ends up using, and which
   * kernel is last and can overlap programmatically with its successor.
   */
  readonly order?: 'main-first' | 'branches-first';
}

/**
 * Runs branches beside the main stream: each waits for `main`, the bodies submit, then `main` waits
 * for each. The join happens also when a body throws; the first error is thrown, later ones are in
 * its `suppressed`.
 */
export function forkJoin(
  main: Stream,
  branches: readonly Branch[],
  mainBody?: () => void,
  options: ForkJoinOptions = {},
): void {
  const errors: unknown[] = [];
  const attempt = (step: () => void): boolean => {
    try {
      step();
      return true;
    } catch (error) {
      errors.push(error);
      return false;
    }
  };
  const forked: Branch[] = [];
  for (const branch of branches) {
    if (!attempt(() => branch[0].waitStream(main))) break;
    forked.push(branch);
  }
  const bodies = bodiesOf(main, branches, mainBody, options);
  if (errors.length === 0) for (const body of bodies) if (!attempt(body)) break;
  for (const [stream] of forked) attempt(() => main.waitStream(stream));
  if (errors.length > 0) throw suppress(errors);
}

/** `forkJoin` with one branch: the alternate stream beside the main stream. */
export function withAlt(
  main: Stream,
  alt: Stream,
  altBody: () => void,
  mainBody: () => void,
  options?: ForkJoinOptions,
): void {
  forkJoin(main, [[alt, altBody]], mainBody, options);
}

function bodiesOf(
  main: Stream,
  branches: readonly Branch[],
  mainBody: (() => void) | undefined,
  options: ForkJoinOptions,
): readonly (() => void)[] {
  const { runtime } = main;
  const first = () => {
    if (mainBody) runtime.withStream(main, mainBody);
  };
  const rest = branches.map(
    ([stream, body]) =>
      () =>
        runtime.withStream(stream, body),
  );
  return options.order === 'branches-first' ? [...rest, first] : [first, ...rest];
}
