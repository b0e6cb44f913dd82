import type { GraphExec, Stream, Tensor } from '@altstream/cuda-runtime';
import { Workspace } from '@altstream/cuda-runtime';
import { isFatal } from './errors/is-fatal.js';
import { MaskedSampler } from './grammar/masked-sampler.js';
import { askMatchers, type StepRules } from './grammar/row-rule.js';
import { LogitRows } from './logprobs/logit-rows.js';
import type { CausalModel, ModelCache } from './model.js';
import type { PageCopy } from './pages/page-copies.js';
import { type RowLogprobs, Sampler } from './sampler.js';
import type { Sequence } from './sequence.js';
import { DecodeBlock, type StepOutputs } from './step/decode-block.js';
import type { DeviceDraws } from './step/device-draws.js';
import type { SampledToken } from './step/sampled-token.js';
import { chooseByRules, readAlternatives, sampledTokens } from './step/sampled-tokens.js';

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
  launch(
    sequences: readonly Sequence[],
    copies: readonly PageCopy[] = [],
  ): Promise<SampledToken[]> {
    const { stream, model, cache, lookAhead, logprobsMode } = this.#options;
    for (const { from, to } of copies) cache.copyPage(from, to, stream);
    const asked = askMatchers(sequences, model.vocabSize);
    const bucket = this.#buckets.find(({ rows }) => rows >= sequences.length);
    const rows = bucket?.rows ?? sequences.length;
    if (this.#set(sequences, rows)) this.#fedSteps += 1;
    if (lookAhead) this.#block.send(stream);
    if (bucket) bucket.launches += 1;
    else this.#eagerSteps += 1;
    bucket?.exec.launch(stream);
    const logits = bucket?.logits ?? this.#enqueue(rows);
    const { hasChanges } = this.#sampler;
    const processed = logprobsMode === 'processed' ? new LogitRows(sequences) : undefined;
    const onLogits = processed && ((drawn: Tensor) => processed.read(drawn, stream));
    if (hasChanges) {
      this.#changedSteps += 1;
      this.#drawAgain(logits, rows, onLogits);
    } else onLogits?.(logits);
    if (lookAhead || hasChanges) this.#block.fetch(stream);
    const outputs = this.#block.outputs(sequences.length);
    const done = stream.synchronize();
    if (asked) return this.#choose(sequences, { asked, done, logits, outputs, processed });
    const best = this.#alternatives(sequences, logits, processed);
    return Promise.all([best, done]).then(([top]) =>
      sampledTokens(sequences, { ...outputs, top }, { processed }),
    );
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
    const drawn = sequences.map((sequence) => {
      return { sequence, position: sequence.computedTokens };
    });
    this.#sampler.uploadParameters(stream, drawn, { rows, elsewhere });
    return this.#block.set(stream, sequences, { rows, elsewhere });
  }

  /** Rows with a grammar choose again, and the ids go to where the next step reads them. */
  async #choose(
    sequences: readonly Sequence[],
    { asked, done, logits, outputs, processed }: RuledStep,
  ): Promise<SampledToken[]> {
    const { stream } = this.#options;
    await done;
    const rules = await asked.collect();
    const { logprobs } = outputs;
    const own = { logits: logits.slice(0, 0, sequences.length), ids: outputs.ids.slice() };
    const values = { ...own, logprobs, deviceIds: this.#block.ids(own.ids.length) };
    const rows = { sequences, rules, masked: this.#masked, sampler: this.#sampler, processed };
    return chooseByRules(rows, values, stream);
  }

  /** Alternatives are rare, so they run eagerly behind the graph instead of in every graph. */
  async #alternatives(
    sequences: readonly Sequence[],
    logits: Tensor,
    processed: LogitRows | undefined,
  ): Promise<RowLogprobs[]> {
    const rows = sequences.length;
    const first = { logits: logits.slice(0, 0, rows), ids: this.#block.ids(rows) };
    return readAlternatives({ sequences, processed }, first, this.#options.stream);
  }
}

/** A step some of whose rows have a grammar. */
interface RuledStep {
  readonly asked: StepRules;
  /** The step without its grammars is over. */
  readonly done: Promise<void>;
  readonly logits: Tensor;
  readonly outputs: StepOutputs;
  readonly processed: LogitRows | undefined;
}
