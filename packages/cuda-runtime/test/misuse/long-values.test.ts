import { afterAll, beforeAll, expect, test } from 'vitest';
import { ArgumentError, type Runtime, type Stream, Tensor } from '../../src/index.js';
import { openTestRuntime } from '../makers/test-kernels.js';

let runtime: Runtime;
let stream: Stream;
beforeAll(async () => {
  ({ runtime } = await openTestRuntime({ cpu: { limitBytes: 1 << 20 } }));
  stream = runtime.currentStream();
});
afterAll(() => runtime.dispose());

const longText = 'x'.repeat(1 << 20);
const ones = (count: number) => Array.from({ length: count }, () => 1);
const messageOf = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  throw new Error('nothing was thrown');
};

test.each<[string, () => unknown]>([
  ['a shape', () => stream.tensor(ones(2000).with(0, -1), 'f32')],
  ['sizes beyond 2^53 bytes', () => stream.tensor([...ones(2000), 2 ** 52], 'f32')],
  ['a view', () => stream.tensor(ones(2000), 'f32').view([...ones(2000), 2])],
  ['strides', () => Tensor.of(stream.tensor([1], 'f32'), [1], 'f32', { strides: ones(2000) })],
  ['a tensor', () => stream.tensor(ones(2000), 'f32').view([3])],
  [
    'a disposed buffer',
    () => {
      const buffer = runtime.device().alloc(4, { label: longText });
      buffer.dispose();
      stream.fill(buffer, 0);
    },
  ],
  [
    'a stream',
    () => {
      const named = runtime.device().createStream({ name: longText });
      named.dispose();
      named.isIdle();
    },
  ],
  ['an option', () => runtime.device().createStream({ [longText]: 1 } as never)],
  ['a dtype', () => stream.tensor([1], longText as never)],
])('%s that is long does not make a long message', (_, call) => {
  const message = messageOf(call);
  expect(message.length).toBeLessThan(1000);
  expect(message).toContain('…');
});

test('a text of the addon with a long label is cut, too', () => {
  const message = messageOf(() => runtime.device().alloc(2 << 20, { label: longText }));
  expect(message.length).toBeLessThan(5000);
  expect(message).toMatch(/: device\.alloc: .*2097152 bytes for xxx.*….* of 1048576.*\.$/);
});

test('what is cut says how much there was, and what is short is whole', () => {
  expect(() => stream.tensor(ones(2000).with(0, -1), 'f32')).toThrow(ArgumentError);
  expect(() => stream.tensor(ones(2000).with(0, -1), 'f32')).toThrow(/\[-1, 1.*, … 2000 in all\]/);
  expect(() => stream.tensor([2, -3], 'f32')).toThrow('[2, -3]');
});
