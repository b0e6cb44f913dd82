import type { Tensor } from '@altstream/cuda-runtime';
import { type BackendContext, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { loadMoeKernels, RoutedExperts, type RoutedExpertsConfig } from '../../src/index.js';
import type { ExpertsCase } from '../cases/experts-gate-up.js';
import { type ExpertsData, uploadExperts } from './experts.js';
import { poisoned } from './poisoned-allocator.js';

/** What a call of the experts gets, already rounded. */
export interface RunInput {
  readonly x: Float32Array;
  readonly ids: readonly number[];
  readonly routerWeights: Float32Array;
}

/** Loads the kernels and makes the experts of a case. */
export async function makeRoutedExperts(
  { stream, runtime }: BackendContext,
  testCase: ExpertsCase,
  data: Pick<ExpertsData, 'w13' | 'w2'>,
  config: Partial<RoutedExpertsConfig> = {},
): Promise<RoutedExperts> {
  await loadMoeKernels(runtime);
  const numExperts = testCase.experts;
  return new RoutedExperts(uploadExperts(stream, data), { numExperts, ...config });
}

/** Uploads the input of one call. */
export function uploadInput(
  { stream }: BackendContext,
  { k, hidden, activations }: ExpertsCase,
  { x, ids, routerWeights }: RunInput,
) {
  const tokens = x.length / hidden;
  return {
    hidden: upload(stream, x, [tokens, hidden], activations),
    topk: {
      ids: upload(stream, ids, [tokens, k], 'i32'),
      weights: upload(stream, routerWeights, [tokens, k], 'f32'),
    },
  };
}

/** Runs the experts on poisoned memory and reads the output's bytes. */
export async function runBytes(
  context: BackendContext,
  experts: RoutedExperts,
  testCase: ExpertsCase,
  input: RunInput,
): Promise<Uint8Array> {
  const { stream } = context;
  const options = { stream, allocator: poisoned(stream) };
  return rowsOf(context, experts.forward(uploadInput(context, testCase, input), options));
}

/** The bytes of a tensor. */
export function rowsOf({ stream }: BackendContext, tensor: Tensor): Promise<Uint8Array> {
  return downloadRaw(stream, tensor);
}

/** The input of tokens `list`, in that order. */
export function pickTokens(
  { x, ids, routerWeights }: RunInput,
  { k, hidden }: ExpertsCase,
  list: readonly number[],
): RunInput {
  return {
    x: Float32Array.from(list.flatMap((t) => [...x.subarray(t * hidden, (t + 1) * hidden)])),
    ids: list.flatMap((t) => ids.slice(t * k, (t + 1) * k)),
    routerWeights: Float32Array.from(
      list.flatMap((t) => [...routerWeights.subarray(t * k, (t + 1) * k)]),
    ),
  };
}
