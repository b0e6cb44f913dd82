import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stream, Tensor, Workspace } from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
let s: Stream;

beforeAll(async () => {
  t = await openTestRuntime();
  s = t.device.createStream({ name: 's' });
});
afterAll(() => t.runtime.dispose());

test.each(['addIf', 'addWhile', 'addSwitch'] as const)(
  'what is wrong with a condition is said of graph.%s',
  (call) => {
    const graph = t.device.createGraph();
    const foreign = t.device.createGraph().createCondition(1);
    const used = graph.createCondition(1);
    const add = (condition: typeof used) =>
      call === 'addSwitch' ? graph.addSwitch(condition, 2) : graph[call](condition);
    add(used);
    expect(() => add(foreign)).toThrow(`graph.${call}: the condition belongs to another graph`);
    expect(() => add(used)).toThrow(`graph.${call}: the condition has a node already`);
  },
);

test('a runtime that has ended refuses the call that was made', async () => {
  const { runtime, device } = await openTestRuntime();
  await runtime.dispose();
  const nothing = () => undefined;
  expect(() => device.alloc(8)).toThrow(/^device\.alloc: the cpu runtime is disposed/);
  expect(() => device.capture(nothing)).toThrow(/^device\.capture: the cpu runtime is disposed/);
});

test('no mark is told from no options', () => {
  const release = () => new Workspace(t.device).release(undefined as never);
  expect(release).toThrow('`mark` is undefined, expected a mark of `workspace.mark`');
});

test('a mark of somebody else is refused by release, not by the next tensor', () => {
  const workspace = new Workspace(t.device);
  const { chunk, offset } = workspace.mark();
  for (const place of [{ chunk: -1 }, { offset: -5 }, { chunk: -1.5 }, { offset: Number.NaN }]) {
    const release = () => workspace.release({ workspace, chunk, offset, ...place });
    expect(release).toThrow('workspace.release: the mark is not an earlier point');
  }
  expect(workspace.tensor([4], 'f32').byteOffset).toBe(0);
});

test.each<[string, () => unknown]>([
  [
    '`bytes` is 9007199254740992, expected a non-negative integer below 2^53',
    () => t.device.alloc(2 ** 53),
  ],
  ['`byteOffset` is -4, expected a non-negative multiple of 4', () => slice(-4)],
  ['`count` is 9007199254740992, expected an i64, beyond 2^53 as a bigint', () => add(2 ** 53, 1)],
  ['`scale` is 1e+39, expected an f32', () => add(1, 1e39)],
])('%s', (text, call) => {
  expect(call).toThrow(text);
});

const slice = (byteOffset: number) => Tensor.of(t.device.alloc(16), [1], 'f32', { byteOffset });

function add(count: number, scale: number): void {
  const [a, y] = [s.tensor([1], 'f32'), s.tensor([1], 'f32')];
  s.launch(t.kernels.add, { grid: [1], block: [1] }, { a, b: null, y, count, scale });
}

test('an error stays readable whatever it was given', () => {
  const y = s.tensor([1], 'i32');
  const text = (byte: unknown) => {
    try {
      s.fill(y, byte as number);
    } catch (error) {
      return String(error);
    }
    return '';
  };
  expect(text('1')).toContain('`byte` is "1", expected');
  expect(text('')).toContain('`byte` is "", expected');
  expect(text('x'.repeat(1e6)).length).toBeLessThan(300);
  expect(text(10n ** 5000n).length).toBeLessThan(300);
});
