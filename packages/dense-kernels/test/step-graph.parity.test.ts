// The operations of this file as the engine uses them: captured once, replayed with new contents.
import { type Tensor, Workspace } from '@altstream/cuda-runtime';
import {
  type BackendContext,
  describeEachBackend,
  downloadRaw,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import {
  add,
  embedding,
  loadDenseKernels,
  rmsNorm,
  sample,
  swigluOai,
  topLogprobs,
} from '../src/index.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { type HostRow, uploadRows } from './makers/sampling.js';

const tokens = 5;
const hidden = 96;
const random = seededRandom(freshSeed);
const table = random.floats(40 * hidden, 2);
const weight = random.floats(hidden, 0.3);
const settings = { temperature: 0.9, topK: 30, topP: 0.9, minP: 0.01 };

/**
 * A stand-in for a model step: gather, norm, activate, add, sample the row as if it were logits.
 */
class Step {
  readonly ids: Tensor;
  readonly #context: BackendContext;
  readonly #workspace: Workspace;
  readonly #table: Tensor;
  readonly #weight: Tensor;
  readonly #row: ReturnType<typeof uploadRows>;

  constructor(context: BackendContext) {
    const { stream, device } = context;
    this.#context = context;
    this.#workspace = new Workspace(device, { label: 'step' });
    this.ids = upload(stream, new Int32Array(tokens), [tokens], 'i32');
    this.#table = upload(stream, table, [40, hidden], 'bf16');
    this.#weight = upload(stream, weight, [hidden], 'f32');
    const rows: HostRow[] = Array.from({ length: tokens }, (_, row) => ({
      logits: new Float32Array(1),
      settings,
      seed: BigInt(row),
      position: row,
    }));
    this.#row = uploadRows(stream, rows, 1);
  }

  /** Enqueues the step; with fixed inputs it takes the same addresses each time. */
  run(): Tensor[] {
    const options = { stream: this.#context.stream, allocator: this.#workspace };
    this.#workspace.reset();
    const x = embedding({ table: this.#table, ids: this.ids }, { ...options, outDType: 'f32' });
    const normed = rmsNorm({ x, weight: this.#weight, residual: x }, options);
    const active = swigluOai({ gate: normed.y, up: normed.residual }, options);
    const logits = add({ a: active, b: normed.residual }, options);
    const drawn = sample({ ...this.#row, logits }, options);
    const best = topLogprobs({ logits, ids: drawn.ids, count: 3 }, options);
    return [logits, drawn.ids, drawn.logprobs, best.chosen, best.ids, best.logprobs];
  }

  dispose(): void {
    this.#workspace.dispose();
  }
}

describeEachBackend(
  'a captured step replayed with new ids has the bits of eager steps',
  [{ name: 'embedding, rmsNorm, swigluOai, add, sample, topLogprobs' }],
  async (context) => {
    const { stream, device, runtime } = context;
    await loadDenseKernels(runtime);
    const [captured, eager] = [new Step(context), new Step(context)];
    captured.run(); // fills the workspace, so that capture allocates nothing
    let outputs: Tensor[] = [];
    const graph = device.capture(
      () => {
        outputs = captured.run();
      },
      { stream },
    );
    const exec = await graph.instantiate();
    const seen = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      const ids = Int32Array.from({ length: tokens }, () => random.integer(-1, 40));
      for (const step of [captured, eager]) stream.write(step.ids, ids);
      exec.launch(stream);
      const expected = eager.run();
      for (const [i, output] of outputs.entries()) {
        const own = expected[i];
        if (!own) throw new Error('a step has other outputs');
        const replayed = await downloadRaw(stream, output);
        expect(replayed, `output ${i}, ${seedNote}`).toEqual(await downloadRaw(stream, own));
        if (i === 0) seen.add(replayed.join());
      }
    }
    expect(seen.size, 'each replay saw its own ids').toBe(4);
    exec.dispose();
    graph.dispose();
    for (const step of [captured, eager]) step.dispose();
  },
);
