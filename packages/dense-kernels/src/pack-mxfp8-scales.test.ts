import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { packMxfp8Scales, unpackMxfp8Scales } from './pack-mxfp8-scales.js';
import { planPackMxfp8Scales } from './pack-mxfp8-scales.plan.js';

test('pads rows to 128 and scales to 4', () => {
  const bytes = (rows: number, blocks: number) => planPackMxfp8Scales({ rows, blocks }).packedBytes;
  expect([bytes(1, 1), bytes(128, 4), bytes(129, 4), bytes(128, 5), bytes(0, 4)]).toEqual([
    512, 512, 1024, 1024, 0,
  ]);
});

test('packs and unpacks to the shapes that belong together', async () => {
  const { stream, launches } = await fakeStream();
  const packed = packMxfp8Scales({ scales: fakeTensor([130, 6], 'e8m0') }, { stream });
  expect(packed.shape).toEqual([2048]);
  expect(unpackMxfp8Scales({ packed, rows: 130, blocks: 6 }, { stream }).shape).toEqual([130, 6]);
  expect(launches.map(({ kernel }) => kernel)).toEqual([
    'pack_mxfp8_scales',
    'unpack_mxfp8_scales',
  ]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const packed = fakeTensor([512], 'e8m0');
  expect(() => packMxfp8Scales({ scales: fakeTensor([8, 4], 'u8') }, { stream })).toThrow(
    'packMxfp8Scales: scales must be e8m0, got u8',
  );
  expect(() => unpackMxfp8Scales({ packed, rows: 129, blocks: 1 }, { stream })).toThrow(
    'unpackMxfp8Scales: packed must have shape [1024], got [512]',
  );
  expect(() => unpackMxfp8Scales({ packed, rows: 1.5, blocks: 1 }, { stream })).toThrow(
    'unpackMxfp8Scales: rows must be an integer from 0',
  );
});
