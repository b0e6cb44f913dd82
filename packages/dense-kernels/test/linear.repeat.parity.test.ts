// A linear gives the same bits whatever the number of threads, and in a graph what it gives
// eagerly.
import { type CpuLevelName, open, Workspace } from '@altstream/cuda-runtime';
import {
  cpuLevels,
  describeEachBackend,
  downloadRaw,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import { linear, loadDenseKernels } from '../src/index.js';
import { type LinearCase, linearCases, makeLinearData } from './cases/linear.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';

const cases = linearCases.filter(({ tokens, x }) => tokens === 130 && x === 'bf16');
const unevenThreads = 3; // threads that do not divide the work evenly

async function runWithThreads(testCase: LinearCase, level: CpuLevelName, threads: number) {
  const runtime = await open({ backend: 'cpu', isolated: true, cpu: { level, threads } });
  try {
    await loadDenseKernels(runtime);
    const stream = runtime.device().createStream();
    const { x, weight } = place(stream, testCase);
    return await downloadRaw(stream, linear({ x, weight }, { stream }));
  } finally {
    await runtime.dispose();
  }
}

function place(stream: Parameters<typeof upload>[0], testCase: LinearCase) {
  const data = makeLinearData(testCase, freshSeed);
  const { tokens, out } = testCase;
  const columns = testCase.in;
  const isMxfp8 = testCase.weight === 'mxfp8';
  const dtype = testCase.weight === 'mxfp8' ? 'e4m3' : testCase.weight;
  const weight = {
    data: upload(stream, isMxfp8 ? data.codes : data.weight, [out, columns], dtype),
    scales: isMxfp8 ? upload(stream, data.scales, [out, columns / 32], 'e8m0') : undefined,
  };
  return { x: upload(stream, data.x, [tokens, columns], testCase.x), weight };
}

for (const level of cpuLevels()) {
  test.each(cases)(`$name has the same bits on 1 and 3 threads, ${level}`, async (testCase) => {
    const one = await runWithThreads(testCase, level, 1);
    expect(await runWithThreads(testCase, level, unevenThreads), seedNote).toEqual(one);
  });
}

describeEachBackend(
  'a graph replays linear',
  cases,
  async ({ stream, runtime, device }, testCase) => {
    await loadDenseKernels(runtime);
    const { x, weight } = place(stream, testCase);
    const eager = await downloadRaw(stream, linear({ x, weight }, { stream }));
    const out = stream.tensor([testCase.tokens, testCase.out], testCase.x);
    stream.fill(out, 0xa5);
    await stream.synchronize();
    const graph = device.capture((captured) => {
      linear({ x, weight }, { stream: captured, out });
    });
    const replay = graph.instantiateSync();
    for (let launch = 0; launch < 2; launch += 1) {
      stream.fill(out, 0xa5);
      replay.launch(stream);
      expect(await downloadRaw(stream, out), `launch ${launch}, ${seedNote}`).toEqual(eager);
    }
  },
);

describeEachBackend('linear gives its scratch back', cases, async (context, testCase) => {
  const { stream, runtime, device } = context;
  await loadDenseKernels(runtime);
  const { x, weight } = place(stream, testCase);
  const eager = await downloadRaw(stream, linear({ x, weight }, { stream }));
  const allocator = new Workspace(device);
  const first = linear({ x, weight }, { stream, allocator });
  const second = linear({ x, weight }, { stream, allocator });
  expect(second.byteOffset - first.byteOffset).toBe(Math.ceil(first.bytes / 256) * 256);
  expect(await downloadRaw(stream, first), seedNote).toEqual(eager);
  expect(await downloadRaw(stream, second), seedNote).toEqual(eager);
  allocator.dispose();
});
