import type { GraphExec, Stream, Tensor } from '@altstream/cuda-runtime';
import { Workspace } from '@altstream/cuda-runtime';
import { isFatal } from './errors/is-fatal.js';
import { MaskedSampler } from './grammar/masked-sampler.js';
import { askMatchers, type StepRules } from './grammar/row-rule.js';
import { LogitRows } from './logprobs/logit-rows.js';
import type { CausalModel, ModelCache } from './model.js';
import type { PageCopy } from './pages/page-copies.js';
import { Sampler } from './sampler.js';
import type { Sequence } from './sequence.js';
import { DecodeBlock, type StepOutputs } from './step/decode-block.js';
import type { DeviceDraws } from './step/device-draws.js';
import {
  chooseByRules,
  readAlternatives,
  wantsAlternatives,
  withLogprobs,
} from './step/sampled-tokens.js';
import type { TokenColumns } from './step/token-columns.js';

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
  /** Most biases and stop tokens of a sequence. */
  readonly maxEntries: number;
  /** Whether a step is launched while the one before runs; default false. */
  readonly lookAhead?: boolean;
  /** What prompts that were computed last drew. */
  readonly drawn?: DeviceDraws;
  /** Of which logits log-probabilities are; default the model's. */
  readonly logprobsMode?: 'raw' | 'processed';
}

/** What one decode graph cost and did. */
export interface DecodeGraphReport {
  readonly rows: number;
  readonly launches: number;
  /** Warm-up, capture and instantiation. */
  readonly captureMs: number;
  /** Device memory that these took; what all share is the first one's, the largest. */
  readonly captureBytes: number;
}

/** A captured decode step for up to `rows` sequences. */
interface Bucket extends DecodeGraphReport {
  readonly exec: GraphExec;
  readonly logits: Tensor;
  launches: number;
}

/** What `describe()` tells of the decode path. */
export interface GraphRunnerReport {
  readonly buckets: readonly DecodeGraphReport[];
  /** Buckets that could not be captured, and why. */
  readonly dropped: readonly { readonly rows: number; readonly reason: string }[];
  /** Steps that ran without a graph. */
  readonly eagerSteps: number;
  /** Steps whose tokens were where the step before had written them, so that none was sent. */
  readonly fedSteps: number;
  /**
   * Steps that drew again behind the graph, since a row has penalties, biases or a least length.
   */
  readonly changedSteps: number;
  readonly workspaceBytes: number;
}

/**
 * Decode steps: one token for every row. Forward pass and sampling are one graph launch, and a
 * sampled id is written where the next step reads it. Graphs are captured at start, the largest
 * first, and share one workspace, since only one runs at a time. Without look-ahead the copies of
 * inputs and outputs are part of the graph; with it they lie around it, as their pinned memory
 * takes turns.
 */
export class GraphRunner {
  readonly #options: GraphRunnerOptions;
  readonly #block: DecodeBlock;
  readonly #sampler: Sampler;
  readonly #masked: MaskedSampler;
  readonly #workspace: Workspace;
  /** Of what runs behind a graph, while the logits in the other one are in use. */
  readonly #tail: Workspace;
  readonly #buckets: Bucket[] = [];
  /** Of the tokens that a step draws. */
  readonly #positions: Int32Array;
  readonly #dropped: { rows: number; reason: string }[] = [];
  #eagerSteps = 0;
  #fedSteps = 0;
  #changedSteps = 0;

  constructor(options: GraphRunnerOptions) {
    const { model, stream, maxRows: rows, maxEntries: entries } = options;
    this.#options = options;
    const sides = options.lookAhead ? 2 : 1;
    this.#block = new DecodeBlock(model.device, { ...options, sides });
    this.#block.prepare(stream);
    this.#positions = new Int32Array(rows);
    const shape = { rows, vocab: model.vocabSize, entries };
    this.#sampler = new Sampler(model.device, shape, 'decode');
    this.#masked = new MaskedSampler(model.device, shape, 'decode');
    this.#workspace = new Workspace(model.device, { label: 'decode' });
    // It holds the logits of the rows, as they were, and nothing else.
    const chunkBytes = 4 * rows * model.vocabSize;
    this.#tail = new Workspace(model.device, { label: 'decode.tail', chunkBytes });
  }

  /** Captures every bucket; one that fails is dropped, and `describe()` says why. */
  async capture(): Promise<void> {
    for (const rows of [...this.#options.buckets].sort((a, b) => b - a)) {
      try {
        this.#buckets.unshift(await this.#captureBucket(rows));
      } catch (error) {
        if (isFatal(error)) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        this.#dropped.push({ rows, reason });
      }
    }
  }

  /** One step of padding: settles allocations and kernel choices. */
  async warmUp(rows: number): Promise<void> {
    this.#set([], rows);
    this.#drawAgain(this.#enqueue(rows), rows);
    await this.#options.stream.synchronize();
  }

  /** A graph that the caller disposes; undefined if it cannot be captured. */
  async tryCapture(rows: number): Promise<GraphExec | undefined> {
    return this.#captureBucket(rows).then(
      ({ exec }) => exec,
      (error: unknown) => {
        if (isFatal(error)) throw error;
        return undefined;
      },
    );
  }

  /**
   * Enqueues a step that computes one token of each sequence, the last one that it counts as
   * computed, row by row. Throws what cannot be enqueued.
   *
   * @param copies pages to copy before, in order
   * @returns the tokens that were drawn, when they are there; take them before the step after the
   * next
   */
  launch(sequences: readonly Sequence[], copies: readonly PageCopy[] = []): Promise<TokenColumns> {
    const { stream, model, cache, lookAhead, logprobsMode } = this.#options;
    for (const { from, to } of copies) cache.copyPage(from, to, stream);
    const asked = askMatchers(sequences, model.vocabSize);
    const bucket = this.#bucketFor(sequences.length);
    const rows = bucket?.rows ?? sequences.length;
    if (this.#set(sequences, rows)) this.#fedSteps += 1;
    if (lookAhead) this.#block.send(stream);
    if (bucket) bucket.launches += 1;
    else this.#eagerSteps += 1;
    bucket?.exec.launch(stream);
    const logits = bucket?.logits ?? this.#enqueue(rows);
    const { hasChanges } = this.#sampler;
    const processed = logprobsMode === 'processed' ? new LogitRows(sequences) : undefined;
    const onLogits = processed?.reader(stream);
    if (hasChanges) {
      this.#changedSteps += 1;
      this.#drawAgain(logits, rows, onLogits);
    } else onLogits?.(logits);
    if (lookAhead || hasChanges) this.#block.fetch(stream);
    const done = stream.synchronize();
    const isPlain = !asked && !processed && !sequences.some(wantsAlternatives);
    if (isPlain) return this.#block.outputsBehind(done);
    const { outputs } = this.#block;
    if (asked) return this.#choose(sequences, { asked, done, logits, outputs, processed });
    return this.#withLogprobs(sequences, { done, logits, outputs, processed });
  }

  /** Forgets what the device was told: after a failed step nothing of it is certain. */
  forget(): void {
    this.#block.forget();
    this.#sampler.forget();
    this.#masked.forget();
  }

  /** Which graphs exist, how often each ran, and what ran without one. */
  describe(): GraphRunnerReport {
    return {
      buckets: this.#buckets.map(({ exec: _, logits: __, ...report }) => report),
      dropped: this.#dropped,
      eagerSteps: this.#eagerSteps,
      fedSteps: this.#fedSteps,
      changedSteps: this.#changedSteps,
      workspaceBytes: this.#workspace.bytes + this.#tail.bytes,
    };
  }

  dispose(): void {
    for (const { exec } of this.#buckets) exec.dispose();
    this.#block.dispose();
    this.#sampler.dispose();
    this.#masked.dispose();
    this.#workspace.dispose();
    this.#tail.dispose();
  }

  /** The smallest that has so many rows. */
  #bucketFor(rows: number): Bucket | undefined {
    for (const bucket of this.#buckets) if (bucket.rows >= rows) return bucket;
    return undefined;
  }

  /** The same calls as in the warm-up, captured. */
  async #captureBucket(rows: number): Promise<Bucket> {
    const { model, stream } = this.#options;
    const before = { ms: performance.now(), freeBytes: model.device.freeBytes };
    await this.warmUp(rows);
    let logits: Tensor | undefined;
    const graph = model.device.capture(
      () => {
        logits = this.#enqueue(rows);
      },
      { stream },
    );
    try {
      if (!logits) throw new Error('the capture recorded nothing');
      const exec = await graph.instantiate();
      const captureMs = performance.now() - before.ms;
      const captureBytes = Math.max(0, before.freeBytes - model.device.freeBytes);
      return { rows, exec, logits, launches: 0, captureMs, captureBytes };
    } finally {
      graph.dispose();
    }
  }

  /** Everything that a step is, captured or not. */
  #enqueue(rows: number): Tensor {
    const { model, cache, stream, lookAhead } = this.#options;
    const workspace = this.#workspace;
    workspace.reset();
    if (!lookAhead) this.#block.send(stream);
    const logits = model.forward(this.#block.batch(rows), cache, { stream, workspace });
    this.#sampler.draw(logits, this.#places(rows, workspace));
    if (!lookAhead) this.#block.fetch(stream);
    return logits;
  }

  /**
   * Changes of logits are rare, so a step that has some draws once more instead of in every graph.
   */
  #drawAgain(logits: Tensor, rows: number, onLogits?: (logits: Tensor) => void): void {
    this.#tail.reset();
    this.#sampler.drawChanged(logits, { ...this.#places(rows, this.#tail), onLogits });
  }

  #places(rows: number, allocator: Workspace) {
    return {
      stream: this.#options.stream,
      allocator,
      positions: this.#block.samplePositions(rows),
      out: { ids: this.#block.ids(rows), logprobs: this.#block.logprobs(rows) },
    };
  }

  #set(sequences: readonly Sequence[], rows: number): boolean {
    const { stream, drawn: elsewhere } = this.#options;
    const positions = this.#positions;
    for (let row = 0; row < sequences.length; row += 1) {
      positions[row] = sequences[row]?.computedTokens ?? 0;
    }
    const drawn = { rows, positions, elsewhere };
    this.#sampler.uploadParameters(stream, sequences, drawn);
    return this.#block.set(stream, sequences, drawn);
  }

  /** Rows with a grammar choose again, and the ids go to where the next step reads them. */
  async #choose(
    sequences: readonly Sequence[],
    { asked, done, logits, outputs, processed }: DrawnStep & { readonly asked: StepRules },
  ): Promise<TokenColumns> {
    const { stream } = this.#options;
    const { length } = sequences;
    await done;
    const rules = await asked.collect();
    const values = {
      logits: logits.slice(0, 0, length),
      ids: outputs.ids.slice(0, length),
      logprobs: outputs.logprobs.subarray(0, length),
      deviceIds: this.#block.ids(length),
    };
    const rows = { sequences, rules, masked: this.#masked, sampler: this.#sampler, processed };
    return chooseByRules(rows, values, stream);
  }

  /** Alternatives are rare, so they run eagerly behind the graph instead of in every graph. */
  async #withLogprobs(
    sequences: readonly Sequence[],
    { done, logits, outputs, processed }: DrawnStep,
  ): Promise<TokenColumns> {
    const rows = sequences.length;
    const first = { logits: logits.slice(0, 0, rows), ids: this.#block.ids(rows) };
    const best = readAlternatives({ sequences, processed }, first, this.#options.stream);
    const [top] = await Promise.all([best, done]);
    return withLogprobs(sequences, { ...outputs, top }, { processed });
  }
}

/** A step whose rows are not over with what it draws. */
interface DrawnStep {
  /** The draw is over. */
  readonly done: Promise<void>;
  readonly logits: Tensor;
  readonly outputs: StepOutputs;
  readonly processed: LogitRows | undefined;
}
