import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { embedding } from './embedding.js';
import { planEmbedding } from './embedding.plan.js';

test('names the kernel after table and output type', () => {
  const kernel = (tableDType: 'bf16' | 'f32', outDType: 'bf16' | 'f32') =>
    planEmbedding({ tokens: 3, hidden: 8, tableDType, outDType }).kernel;
  expect(kernel('bf16', 'bf16')).toBe('embedding_bf16');
  expect(kernel('f32', 'f32')).toBe('embedding_f32');
  expect(kernel('bf16', 'f32')).toBe('embedding_bf16_to_f32');
  expect(kernel('f32', 'bf16')).toBe('embedding_f32_to_bf16');
});

test('passes the row stride of a table that is a view', async () => {
  const { stream, launches } = await fakeStream();
  const table = fakeTensor([10, 8], 'bf16', { strides: [24, 1] });
  const y = embedding({ table, ids: fakeTensor([3], 'i32') }, { stream, outDType: 'f32' });
  expect([y.shape, y.dtype]).toEqual([[3, 8], 'f32']);
  expect(launches[0]?.params).toMatchObject({ table_stride: 24, rows: 10, tokens: 3, hidden: 8 });
});

test('passes the id of the first row of a part', async () => {
  const { stream, launches } = await fakeStream();
  const table = fakeTensor([10, 8], 'bf16');
  const ids = fakeTensor([3], 'i32');
  embedding({ table, ids }, { stream });
  embedding({ table, ids, firstId: 70 }, { stream });
  expect(launches.map(({ params }) => params['first_id'])).toEqual([0, 70]);
});

test('launches nothing for no tokens', async () => {
  const { stream, launches } = await fakeStream();
  const table = fakeTensor([10, 8], 'bf16');
  expect(embedding({ table, ids: fakeTensor([0], 'i32') }, { stream }).shape).toEqual([0, 8]);
  expect(launches).toEqual([]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const table = fakeTensor([10, 8], 'bf16');
  const ids = fakeTensor([3], 'i32');
  const refused = (run: () => unknown, argument: string, code: string) =>
    expect(run).toThrow(expect.objectContaining({ operation: 'embedding', argument, code }));
  refused(() => embedding({ table: ids, ids }, { stream }), 'table', 'DENSE_DTYPE');
  refused(() => embedding({ table, ids: table }, { stream }), 'ids', 'DENSE_DTYPE');
  for (const firstId of [-1, 0.5, 2 ** 31]) {
    refused(() => embedding({ table, ids, firstId }, { stream }), 'firstId', 'DENSE_RANGE');
  }
  refused(
    () => embedding({ table, ids: fakeTensor([3, 1], 'i32') }, { stream }),
    'ids',
    'DENSE_SHAPE',
  );
  refused(
    () => embedding({ table, ids }, { stream, out: fakeTensor([3, 9], 'bf16') }),
    'out',
    'DENSE_SHAPE',
  );
  refused(
    () => embedding({ table, ids }, { stream, outDType: 'i32' as 'f32' }),
    'outDType',
    'DENSE_DTYPE',
  );
});
