import { expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { expertsPack } from './experts-pack.js';
import { planExpertsPack } from './experts-pack.plan.js';
import { withoutPdl } from './pdl.js';

const hopper = { sm: '9.0', cpuLevel: '', processors: 132 };

it('gives each thread 16 bytes at a time, in blocks that are all resident', async () => {
  const device = (await fakeStream(hopper)).stream.device.limits;
  const gridOf = (rows: number) =>
    planExpertsPack({ tokens: rows, rows, columns: 64, weights: 'mxfp8' }, device, withoutPdl)
      .config.grid;
  expect([1, 32, 33, 33_792, 33_793].map(gridOf)).toEqual([[1], [1], [2], [1056], [1056]]);
});

it('launches what the plan says, or nothing without one', async () => {
  const { stream, launches, tensor } = await fakeStream(hopper);
  const [x, packed] = [tensor([7, 128], 'bf16'), tensor([7 * 128 * 2], 'u8')];
  expertsPack(stream, undefined, x, null);
  expect(launches).toEqual([]);
  const shape = { tokens: 7, rows: 7, columns: 128, weights: 'bf16' } as const;
  const plan = planExpertsPack(shape, stream.device.limits, withoutPdl);
  expertsPack(stream, plan, x, packed);
  expect(launches).toEqual([
    { kernel: 'experts_pack_bf16', config: plan.config, params: { x, packed, chunks: 112 } },
  ]);
});
