import {
  type BackendContext,
  describeEachBackend,
  expectClose,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import type { ExpertsCase } from '../cases/experts-gate-up.js';
import { breakExperts, renameExperts, sliceExperts } from '../makers/expert-slices.js';
import { type ExpertsData, makeExperts } from '../makers/experts.js';
import { makeRoutedExperts, pickTokens, runBytes } from '../makers/routed-experts.js';

type Property = (
  context: BackendContext,
  testCase: ExpertsCase,
  data: ExpertsData,
) => Promise<void>;

const base: ExpertsCase = {
  name: '',
  tokens: 33,
  k: 2,
  experts: 8,
  hidden: 160,
  intermediate: 96,
  weights: 'mxfp8',
  activations: 'f32',
};

const properties: Readonly<Record<string, Property>> = {
  'a token does not depend on its batch (flashinfer#3559)': async (context, testCase, data) => {
    const experts = await makeRoutedExperts(context, testCase, data);
    const whole = await runBytes(context, experts, testCase, data);
    const rowBytes = whole.length / testCase.tokens;
    const lists = [[0], [5], [32], [7, 8, 9], range(0, 16), range(16, 33), range(0, 33).reverse()];
    for (const list of lists) {
      const part = await runBytes(context, experts, testCase, pickTokens(data, testCase, list));
      list.forEach((t, i) => {
        expect(part.subarray(i * rowBytes, (i + 1) * rowBytes)).toEqual(
          whole.subarray(t * rowBytes, (t + 1) * rowBytes),
        );
      });
    }
  },

  'the same call gives the same bits ten times': async (context, testCase, data) => {
    const experts = await makeRoutedExperts(context, testCase, data);
    const first = await runBytes(context, experts, testCase, data);
    for (let run = 1; run < 10; run += 1) {
      expect(await runBytes(context, experts, testCase, data)).toEqual(first);
    }
  },

  'renaming the experts changes nothing': async (context, testCase, data) => {
    const names = [3, 7, 0, 5, 1, 6, 2, 4]; // expert e becomes names[e]
    const renamed = {
      w13: renameExperts(data.w13, names),
      w2: renameExperts(data.w2, names),
      ids: data.ids.map((id) => names[id] ?? -1),
    };
    const experts = await makeRoutedExperts(context, testCase, data);
    const others = await makeRoutedExperts(context, testCase, renamed);
    const input = { ...data, ids: renamed.ids };
    expect(await runBytes(context, others, testCase, input)).toEqual(
      await runBytes(context, experts, testCase, data),
    );
  },

  'adding 3 to every scale byte of w2 multiplies by exactly 8': async (context, testCase, data) => {
    const scales = data.w2.scales?.map((scale) => scale + 3);
    const louder = { ...data, w2: { ...data.w2, ...(scales ? { scales } : {}) } };
    const experts = await makeRoutedExperts(context, testCase, data);
    const others = await makeRoutedExperts(context, testCase, louder);
    const quiet = floats(await runBytes(context, experts, testCase, data));
    const loud = floats(await runBytes(context, others, testCase, louder));
    expect([...loud]).toEqual([...quiet].map((value) => value * 8));
  },

  'weights of idle experts are not read': async (context, testCase, data) => {
    const ids = data.ids.map((id) => (id === 2 || id === 5 ? -1 : id));
    const input = { ...data, ids };
    const broken = {
      w13: breakExperts(data.w13, [2, 5]),
      w2: breakExperts(data.w2, [2, 5]),
    };
    const experts = await makeRoutedExperts(context, testCase, data);
    const others = await makeRoutedExperts(context, testCase, broken);
    expect(await runBytes(context, others, testCase, input)).toEqual(
      await runBytes(context, experts, testCase, input),
    );
    const leaks = floats(await runBytes(context, others, testCase, data));
    expect(leaks.some(Number.isNaN)).toBe(true);
  },

  'a fused shared expert adds its output with weight 1 (sglang#36576)': async (
    context,
    testCase,
    data,
  ) => {
    const { k, tokens } = testCase;
    const fused = { ...testCase, k: k + 1 };
    const appended = {
      x: data.x,
      ids: appendColumn(data.ids, k, 7),
      routerWeights: Float32Array.from(appendColumn([...data.routerWeights], k, 1)),
    };
    const alone = { ...testCase, k: 1 };
    const shared = {
      x: data.x,
      ids: range(0, tokens).map(() => 7),
      routerWeights: new Float32Array(tokens).fill(1),
    };
    const experts = await makeRoutedExperts(context, testCase, data);
    const routed = floats(await runBytes(context, experts, testCase, data));
    const added = floats(await runBytes(context, experts, alone, shared));
    const both = floats(await runBytes(context, experts, fused, appended));
    // The shared slot comes last, so in fp32 the two sums are the same operations.
    expect([...both]).toEqual([...routed].map((value, i) => Math.fround(value + (added[i] ?? 0))));
  },

  'the ranks of an expert-parallel group add up': async (context, testCase, data) => {
    const experts = await makeRoutedExperts(context, testCase, data);
    const whole = floats(await runBytes(context, experts, testCase, data));
    const sum = new Float64Array(whole.length);
    for (const [first, end] of [
      [0, 3],
      [3, 4],
      [4, 8],
    ] as const) {
      const part = {
        w13: sliceExperts(data.w13, first, end),
        w2: sliceExperts(data.w2, first, end),
      };
      const local = { localExpertOffset: first, localNumExperts: end - first };
      const rank = await makeRoutedExperts(context, testCase, part, local);
      floats(await runBytes(context, rank, testCase, data)).forEach((value, i) => {
        sum[i] = (sum[i] ?? 0) + value;
      });
    }
    const rms = Math.sqrt(whole.reduce((total, v) => total + v * v, 0) / whole.length);
    expectClose(whole, sum, { absolute: 1e-6 * rms });
  },
};

const cases = Object.entries(properties).map(([name, check]) => ({ ...base, name, check }));

describeEachBackend('RoutedExperts:', cases, async (context, { check, ...testCase }) => {
  await check(context, testCase, makeExperts(testCase));
});

function range(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, i) => first + i);
}

/** Adds `value` behind every `k` entries. */
function appendColumn(values: readonly number[], k: number, value: number): number[] {
  return values.flatMap((entry, i) => (i % k === k - 1 ? [entry, value] : [entry]));
}

function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}
