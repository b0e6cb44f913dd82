import { checkFunction, wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type { Stream } from '../contract.js';
import { suppress } from '../errors/suppress.js';
import { hostRange } from '../trace/host-ranges.js';

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
 * @throws ArgumentError before anything is submitted, for what is no stream or no function
 */
export function forkJoin(
  main: Stream,
  branches: readonly Branch[],
  mainBody?: () => void,
  options: ForkJoinOptions = {},
): void {
  checkBranches(main, branches, mainBody);
  checkOrder(options);
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

function checkBranches(main: Stream, branches: readonly Branch[], mainBody: unknown): void {
  const api = 'forkJoin';
  checkStream(api, 'main', main);
  if (!Array.isArray(branches)) throw wrongKind(api, 'branches', branches, 'an array');
  for (const [index, branch] of branches.entries()) {
    const name = `branches[${index}]`;
    if (!Array.isArray(branch)) throw wrongKind(api, name, branch, '[stream, body]');
    checkStream(api, `${name}[0]`, branch[0]);
    checkFunction(api, `${name}[1]`, branch[1]);
  }
  if (mainBody !== undefined) checkFunction(api, 'mainBody', mainBody);
}

const names: OptionNames<ForkJoinOptions> = { order: true };

function checkOrder(options: ForkJoinOptions): void {
  const api = 'forkJoin';
  checkOptions(api, 'options', options, names);
  const { order = 'main-first' } = options;
  if (order === 'main-first' || order === 'branches-first') return;
  throw wrongKind(api, 'order', order, 'main-first or branches-first');
}

function checkStream(api: string, argument: string, stream: Stream): void {
  if (typeof stream?.waitStream !== 'function') throw wrongKind(api, argument, stream, 'a stream');
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
        hostRange(`branch ${stream.name}`, () => runtime.withStream(stream, body)),
  );
  return options.order === 'branches-first' ? [...rest, first] : [first, ...rest];
}
