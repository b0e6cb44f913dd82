/** Times both ways to run the shared expert, each as a replayed graph of one MoE layer. */

import { type Device, type Stream, type Tensor, Workspace } from '@altstream/cuda-runtime';
import type { KvCache } from './kv-cache.js';
import type { MoeBlock } from './layers/moe-block.js';
import { ModelStep } from './model-step.js';
import type { SharedExpertMeasurement } from './shared-expert-choice.js';

const replays = 20;
const rounds = 3;

/** What to measure. */
export interface MeasureOptions {
  readonly device: Device;
  readonly block: MoeBlock;
  readonly hidden: number;
  readonly dtype: 'f32' | 'bf16';
  readonly cache: KvCache;
  readonly tokens: number;
}

/** Makes a tensor that the measurement frees. */
type MakeTensor = Stream['tensor'];

/** Measures one batch size; the best round counts, since the others waited for somebody else. */
export async function measureSharedExpert(
  options: MeasureOptions,
): Promise<SharedExpertMeasurement> {
  const { device, block, tokens } = options;
  const stream = device.createStream({ name: 'measure' });
  const workspace = new Workspace(device, { label: 'measure' });
  const owned: Tensor[] = [];
  const make: MakeTensor = (shape, dtype, label) => {
    const tensor = stream.tensor(shape, dtype, label);
    owned.push(tensor);
    return tensor;
  };
  try {
    const hidden = pseudoActivations(options, stream, make);
    const batch = emptyBatch(tokens, stream, make);
    const out = make(hidden.shape, hidden.dtype, 'measured');
    const time = (body: (step: ModelStep) => void) =>
      timeGraph(device, stream, (capturing) => {
        workspace.reset();
        body(new ModelStep(batch, options.cache, { stream: capturing, workspace }));
      });
    const separateUs = await time((step) => block.forwardSeparate(hidden, step, out));
    const fusedUs = await time((step) => block.forwardFused(hidden, step, out));
    const chosen = fusedUs < separateUs ? 'fused' : 'separate';
    return { tokens, separateUs, fusedUs, chosen };
  } finally {
    await stream.synchronize();
    for (const tensor of owned) tensor.dispose();
    workspace.dispose();
    stream.dispose();
  }
}

async function timeGraph(
  device: Device,
  stream: Stream,
  record: (capturing: Stream) => void,
): Promise<number> {
  const graph = device.capture(record, { stream });
  const exec = await graph.instantiate();
  try {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round <= rounds; round++) {
      await stream.synchronize();
      const started = performance.now();
      for (let i = 0; i < replays; i++) exec.launch(stream);
      await stream.synchronize();
      const us = ((performance.now() - started) * 1000) / replays;
      // The first round warms caches up.
      if (round > 0) best = Math.min(best, us);
    }
    return best;
  } finally {
    exec.dispose();
    graph.dispose();
  }
}

/** Values in [-1, 1) that differ from token to token, so that tokens choose different experts. */
function pseudoActivations(
  { hidden, tokens, dtype }: MeasureOptions,
  stream: Stream,
  make: MakeTensor,
): Tensor {
  const tensor = make([tokens, hidden], dtype, 'measured input');
  const values = Float32Array.from({ length: tokens * hidden }, (_, i) => {
    const hash = Math.imul(i + 1, 0x9e3779b9) ^ (Math.imul(i + 1, 0x85ebca6b) >>> 15);
    return (hash >>> 8) / 2 ** 23 - 1;
  });
  const bits = new Uint32Array(values.buffer);
  stream.write(tensor, dtype === 'f32' ? values : Uint16Array.from(bits, (b) => b >>> 16));
  return tensor;
}

/** Real tokens as far as the router looks. */
function emptyBatch(tokens: number, stream: Stream, make: MakeTensor) {
  const positions = make([tokens], 'i32', 'positions');
  stream.write(
    positions,
    Int32Array.from({ length: tokens }, (_, i) => i),
  );
  const same = { tokenIds: positions, sequenceIds: positions, slots: positions, rows: positions };
  return { ...same, positions, pageTable: positions };
}
