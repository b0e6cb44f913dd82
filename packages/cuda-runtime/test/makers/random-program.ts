import type { Stream, Tensor } from '../../src/index.js';
import { seededRandom } from '../../src/testing/index.js';
import { accumulate, type TestRuntime } from './test-kernels.js';

/** One step of a program over streams and buffers, both by index. */
export type Step =
  | { readonly kind: 'wait'; readonly stream: number; readonly other: number }
  | { readonly kind: 'accumulate'; readonly stream: number; readonly y: number; readonly x: number }
  | { readonly kind: 'fill'; readonly stream: number; readonly y: number; readonly byte: number }
  | { readonly kind: 'copy'; readonly stream: number; readonly y: number; readonly from: number };

/** Sizes of the programs. */
export const programSize = { streams: 4, buffers: 5, elements: 8, steps: 50 } as const;

/**
 * A program in which every access to a buffer comes after the earlier ones on other streams: a wait
 * is put in wherever the last user was another stream. So its result does not depend on the
 * schedule.
 */
export function randomProgram(seed: number): readonly Step[] {
  const random = seededRandom(seed);
  const { streams, buffers, steps } = programSize;
  const lastUser = new Array<number>(buffers).fill(0);
  const program: Step[] = [];
  const claim = (stream: number, buffer: number) => {
    const other = lastUser[buffer] ?? 0;
    if (other !== stream) program.push({ kind: 'wait', stream, other });
    lastUser[buffer] = stream;
  };
  for (let step = 0; step < steps; step += 1) {
    const stream = random.integer(0, streams);
    const y = random.integer(0, buffers);
    const choice = random.integer(0, 6);
    if (choice === 0) {
      const from = random.integer(0, buffers);
      if (from === y) continue;
      claim(stream, from);
      claim(stream, y);
      program.push({ kind: 'copy', stream, y, from });
    } else if (choice === 1) {
      claim(stream, y);
      program.push({ kind: 'fill', stream, y, byte: random.integer(0, 256) });
    } else {
      claim(stream, y);
      program.push({ kind: 'accumulate', stream, y, x: random.integer(1, 1000) });
    }
  }
  return program;
}

/** The contents of all buffers afterwards, computed step by step in JavaScript. */
export function expectedResult(program: readonly Step[]): readonly number[][] {
  const { buffers, elements } = programSize;
  const values = Array.from({ length: buffers }, () => new Int32Array(elements));
  for (const step of program) {
    if (step.kind === 'wait') continue;
    const y = values[step.y] ?? new Int32Array();
    if (step.kind === 'accumulate')
      for (const i of y.keys()) y[i] = Math.imul(y[i] ?? 0, 3) + step.x;
    if (step.kind === 'fill') y.fill(step.byte * 0x01010101);
    if (step.kind === 'copy') y.set(values[step.from] ?? y);
  }
  return values.map((value) => [...value]);
}

/** Submits a program; the first stream is forked to the others before and joins them afterwards. */
export function submit(
  t: TestRuntime,
  program: readonly Step[],
  streams: readonly Stream[],
  buffers: readonly Tensor[],
): void {
  const [main, ...others] = streams;
  if (!main) throw new Error('no stream');
  for (const other of others) other.waitStream(main);
  for (const step of program) submitStep(t, step, streams, buffers);
  for (const other of others) main.waitStream(other);
}

function submitStep(
  t: TestRuntime,
  step: Step,
  streams: readonly Stream[],
  buffers: readonly Tensor[],
): void {
  const stream = at(streams, step.stream);
  if (step.kind === 'wait') stream.waitStream(at(streams, step.other));
  else if (step.kind === 'accumulate') accumulate(t, stream, at(buffers, step.y), 3, step.x);
  else if (step.kind === 'fill') stream.fill(at(buffers, step.y), step.byte);
  else stream.copy(at(buffers, step.y), at(buffers, step.from));
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new RangeError(`no entry ${index}`);
  return value;
}
