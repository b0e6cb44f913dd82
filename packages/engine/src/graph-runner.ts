import type { GraphExec, Stream, Tensor } from '@altstream/cuda-runtime';
import { Workspace } from '@altstream/cuda-runtime';
import type { CausalModel, ModelCache } from './model.js';
import { readLogprobs, type Sampled, Sampler } from './sampler.js';
import type { Sequence } from './sequence.js';
import type { SampledToken } from './step/sampled-token.js';
import { StepInputs } from './step/step-inputs.js';

/** What the decode runner is made of. */
export interface GraphRunnerOptions {
  readonly model: CausalModel;
  readonly cache: ModelCache;
  readonly stream: Stream;
  /** Rows of each captured graph; empty = every step runs eagerly. */
  readonly buckets: readonly number[];
  /** Most rows of a step. */
  readonly maxRows: number;
  readonly maxPages: number;
}

/** A captured decode step for up to `rows` sequences. */
interface Bucket {
  readonly rows: number;
  readonly exec: GraphExec;
  readonly logits: Tensor;
  readonly sampled: Sampled;
  launches: number;
}

/** What `describe()` tells of the decode path. */
export interface GraphRunnerReport {
  readonly buckets: readonly { readonly rows: number; readonly launches: number }[];
  /** Buckets that could not be captured, and why. */
  readonly dropped: readonly { readonly rows: number; readonly reason: string }[];
  /** Steps that ran without a graph. */
  readonly eagerSteps: number;
  readonly workspaceBytes: number;
}

/**
 * Decode steps: one token for every row, forward pass and sampling in one graph launch. Graphs are
 * captured at start, the largest first, and share one workspace, since only one runs at a time.
 */
export class GraphRunner {
  readonly #options: GraphRunnerOptions;
  readonly #inputs: StepInputs;
  readonly #sampler: Sampler;
  readonly #workspace: Workspace;
  readonly #buckets: Bucket[] = [];
  readonly #dropped: { rows: number; reason: string }[] = [];
  #eagerSteps = 0;

  constructor(options: GraphRunnerOptions) {
    const { model, maxRows, maxPages } = options;
    this.#options = options;
    const capacity = { tokens: maxRows, sequences: maxRows, rows: maxRows, maxPages };
    this.#inputs = new StepInputs(model.device, capacity, 'decode');
    for (let row = 0; row < maxRows; row += 1) this.#inputs.host.rows[row] = row;
    this.#sampler = new Sampler(model.device, maxRows, 'decode');
    this.#workspace = new Workspace(model.device, { label: 'decode' });
  }

  /** Captures every bucket; one that fails is dropped, and `describe()` says why. */
  async capture(): Promise<void> {
    for (const rows of [...this.#options.buckets].sort((a, b) => b - a)) {
      try {
        this.#buckets.unshift(await this.#captureBucket(rows));
      } catch (error) {
        this.#dropped.push({
          rows,
          reason: error instanceof Error ? error.message : String(error),
        });
      }
    }
  }

  /** Computes one token for each sequence, row by row. */
  async run(sequences: readonly Sequence[]): Promise<SampledToken[]> {
    const { stream } = this.#options;
    const bucket = this.#buckets.find(({ rows }) => rows >= sequences.length);
    const rows = bucket?.rows ?? sequences.length;
    this.#upload(sequences, rows);
    if (bucket) {
      bucket.launches += 1;
      bucket.exec.launch(stream);
      return this.#collect(sequences, bucket.logits, bucket.sampled);
    }
    this.#eagerSteps += 1;
    const { logits, sampled } = this.#enqueue(rows);
    return this.#collect(sequences, logits, sampled);
  }

  /** Forgets what the device was told: after a failed step nothing of it is certain. */
  forget(): void {
    this.#inputs.forget();
    this.#sampler.forget();
  }

  /** Which graphs exist, how often each ran, and what ran without one. */
  describe(): GraphRunnerReport {
    return {
      buckets: this.#buckets.map(({ rows, launches }) => ({ rows, launches })),
      dropped: this.#dropped,
      eagerSteps: this.#eagerSteps,
      workspaceBytes: this.#workspace.bytes,
    };
  }

  dispose(): void {
    for (const { exec } of this.#buckets) exec.dispose();
    this.#inputs.dispose();
    this.#sampler.dispose();
    this.#workspace.dispose();
  }

  /** A warm-up run settles allocations and kernel choices; then the same calls are captured. */
  async #captureBucket(rows: number): Promise<Bucket> {
    const { model, stream } = this.#options;
    this.#upload([], rows);
    this.#enqueue(rows);
    await stream.synchronize();
    let captured: { logits: Tensor; sampled: Sampled } | undefined;
    const graph = model.device.capture(
      () => {
        captured = this.#enqueue(rows);
      },
      { stream },
    );
    if (!captured) throw new Error('the capture recorded nothing');
    const exec = await graph.instantiate();
    graph.dispose();
    return { rows, exec, ...captured, launches: 0 };
  }

  #enqueue(rows: number): { logits: Tensor; sampled: Sampled } {
    const { model, cache, stream } = this.#options;
    const workspace = this.#workspace;
    workspace.reset();
    const logits = model.forward(this.#inputs.batch(rows, rows, rows), cache, {
      stream,
      workspace,
    });
    return { logits, sampled: this.#sampler.sample(logits, { stream, allocator: workspace }) };
  }

  #upload(sequences: readonly Sequence[], rows: number): void {
    sequences.forEach((sequence, row) => {
      this.#inputs.setToken(row, sequence, row, sequence.computedTokens);
    });
    this.#inputs.padFrom(sequences.length, rows);
    this.#inputs.upload(this.#options.stream, sequences, rows, rows);
    this.#sampler.upload(this.#options.stream, sequences, rows);
  }

  async #collect(
    sequences: readonly Sequence[],
    logits: Tensor,
    sampled: Sampled,
  ): Promise<SampledToken[]> {
    return collectSampled(sequences, { logits, sampled }, this.#options.stream);
  }
}

/** Reads sampled ids and logprobs back, with alternatives for the rows that want them. */
export async function collectSampled(
  sequences: readonly Sequence[],
  { logits, sampled }: { logits: Tensor; sampled: Sampled },
  stream: Stream,
): Promise<SampledToken[]> {
  const rows = sequences.length;
  if (rows === 0) return [];
  const ids = new Int32Array(rows);
  const logprobs = new Float32Array(rows);
  const firstRows = (tensor: Tensor): Tensor => tensor.slice(0, 0, rows);
  const reads = [
    stream.read(firstRows(sampled.ids), ids),
    stream.read(firstRows(sampled.logprobs), logprobs),
  ];
  const wanted = Math.max(...sequences.map(({ parameters }) => parameters.logprobs ?? 0));
  // Alternatives are rare, so they run eagerly behind the graph instead of in every graph.
  const best =
    wanted > 0
      ? readLogprobs(
          { logits: firstRows(logits), ids: firstRows(sampled.ids), count: wanted },
          { stream, allocator: stream },
        )
      : Promise.resolve([]);
  const [top] = await Promise.all([best, ...reads]);
  return sequences.map(({ parameters }, row) => ({
    id: ids[row] ?? -1,
    logprob: logprobs[row] ?? Number.NaN,
    top: top[row]?.top.slice(0, parameters.logprobs ?? 0) ?? [],
  }));
}
