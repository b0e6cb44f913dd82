import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stream, Workspace } from '../../src/index.js';
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
