import { type Stream, Tensor, Workspace } from '@altstream/cuda-runtime';
import { MaskedSampler } from './grammar/masked-sampler.js';
import { askMatchers, type RowRule } from './grammar/row-rule.js';
import { LogitRows } from './logprobs/logit-rows.js';
import type { CausalModel, ModelCache } from './model.js';
import type { PrefillResult } from './parts/engine-parts.js';
import { readLogprobs, Sampler } from './sampler.js';
import { completesPrompt, type PrefillPiece } from './scheduler/batch.js';
import type { DeviceDraws, DrawnToken } from './step/device-draws.js';
import { collectSampled } from './step/sampled-tokens.js';
import { StepInputs } from './step/step-inputs.js';
import { noTokens, type TokenColumns } from './step/token-columns.js';

/** What the prefill runner is made of. */
export interface PrefillRunnerOptions {
  readonly model: CausalModel;
  readonly cache: ModelCache;
  readonly stream: Stream;
  readonly maxTokens: number;
  readonly maxSequences: number;
  readonly maxPages: number;
  /** Most biases and stop tokens of a sequence. */
  readonly maxEntries: number;
  /** Of which logits log-probabilities of answers are; default the model's. */
  readonly logprobsMode?: 'raw' | 'processed';
}

/** A token of a prompt whose log-probability is wanted. */
interface PromptRow {
  readonly piece: PrefillPiece;
  readonly nextToken: number;
}

/** Computes pieces of prompts, eagerly, and the first token of every prompt that it completes. */
export class PrefillRunner implements DeviceDraws {
  readonly #options: PrefillRunnerOptions;
  readonly #inputs: StepInputs;
  readonly #sampler: Sampler;
  readonly #masked: MaskedSampler;
  readonly #workspace: Workspace;
  /** First tokens of the last launch: whose, and where they stand. */
  #drawn:
    | { readonly ids: Tensor; readonly rows: readonly { id: number; position: number }[] }
    | undefined;

  constructor(options: PrefillRunnerOptions) {
    const { model, maxTokens, maxSequences, maxPages, maxEntries: entries } = options;
    this.#options = options;
    const rows = maxTokens + maxSequences;
    const capacity = { tokens: maxTokens, sequences: maxSequences, rows, maxPages };
    this.#inputs = new StepInputs(model.device, capacity, 'prefill');
    const shape = { rows: maxSequences, vocab: model.vocabSize, entries };
    this.#sampler = new Sampler(model.device, shape, 'prefill');
    this.#masked = new MaskedSampler(model.device, shape, 'prefill');
    this.#workspace = new Workspace(model.device, { label: 'prefill' });
  }

  /** One step of the largest size, of padding only: settles allocations. */
  async warmUp(): Promise<void> {
    const { model, cache, stream, maxTokens, maxSequences } = this.#options;
    this.#inputs.pad(maxTokens, maxSequences);
    this.#inputs.upload(stream, [], maxTokens, maxSequences);
    this.#sampler.upload(stream, [], maxSequences);
    const workspace = this.#workspace;
    workspace.reset();
    const batch = this.#inputs.batch(maxTokens, maxSequences, maxSequences);
    const logits = model.forward(batch, cache, { stream, workspace });
    this.#sampler.drawChanged(logits, { stream, allocator: workspace });
    await stream.synchronize();
  }

  /**
   * Enqueues the pieces. Throws what cannot be enqueued. @returns what they come to, when it is
   * there
   */
  launch(pieces: readonly PrefillPiece[]): Promise<PrefillResult> {
    this.#drawn = undefined;
    const { model, cache, stream } = this.#options;
    const workspace = this.#workspace;
    const complete = pieces.filter(completesPrompt);
    const promptRows = this.#fill(pieces);
    const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
    const rows = complete.length + promptRows.length;
    const sequences = complete.map(({ sequence }) => sequence);
    const asked = askMatchers(sequences, model.vocabSize);
    this.#inputs.upload(
      stream,
      pieces.map(({ sequence }) => sequence),
      tokens,
      rows,
    );
    this.#sampler.upload(stream, sequences, sequences.length);
    workspace.reset();
    const batch = this.#inputs.batch(tokens, pieces.length, rows);
    const logits = model.forward(batch, cache, { stream, workspace });
    const reports = this.#promptReports(promptRows, logits.slice(0, complete.length, rows));
    if (complete.length === 0) {
      return Promise.all([reports, stream.synchronize()]).then(([all]) => ({
        first: noTokens,
        reports: all,
      }));
    }
    const firstLogits = logits.slice(0, 0, complete.length);
    const processed =
      this.#options.logprobsMode === 'processed' ? new LogitRows(sequences) : undefined;
    const onLogits = processed?.reader(stream);
    const sampled = this.#sampler.sample(firstLogits, { stream, allocator: workspace, onLogits });
    const drawn = sequences.map(({ id, knownTokens }) => ({ id, position: knownTokens }));
    this.#drawn = { ids: sampled.ids, rows: drawn };
    const collect = (rules: readonly RowRule[] | undefined): Promise<TokenColumns> =>
      collectSampled(
        { sequences, rules, masked: this.#masked, sampler: this.#sampler, processed },
        { logits: firstLogits, sampled },
        stream,
      );
    const first = asked
      ? stream
          .synchronize()
          .then(() => asked.collect())
          .then(collect)
      : collect(undefined);
    return Promise.all([first, reports]).then(([tokens, all]) => ({ first: tokens, reports: all }));
  }

  tokenAt(id: number, position: number): DrawnToken | undefined {
    if (!this.#drawn) return undefined;
    const { ids, rows } = this.#drawn;
    const row = rows.findIndex((one) => one.id === id && one.position === position);
    return row < 0 ? undefined : { ids, row };
  }

  countsBelow(id: number, position: number): Tensor | undefined {
    return this.#sampler.countsBelow(id, position);
  }

  /** Forgets what the device was told: after a failed step nothing of it is certain. */
  forget(): void {
    this.#drawn = undefined;
    this.#inputs.forget();
    this.#sampler.forget();
    this.#masked.forget();
  }

  /** Bytes of activations held for the largest step so far. */
  get workspaceBytes(): number {
    return this.#workspace.bytes;
  }

  dispose(): void {
    this.#inputs.dispose();
    this.#sampler.dispose();
    this.#masked.dispose();
    this.#workspace.dispose();
  }

  /** Fills tokens and rows: first one row for each completed prompt, then the prompt's own rows. */
  #fill(pieces: readonly PrefillPiece[]): PromptRow[] {
    const { host } = this.#inputs;
    const promptRows: PromptRow[] = [];
    const promptTokens: number[] = [];
    let token = 0;
    let completed = 0;
    pieces.forEach((piece, row) => {
      const { sequence, start, tokens } = piece;
      for (let position = start; position < start + tokens; position += 1) {
        this.#inputs.setToken(token, sequence, row, position);
        const isNew = position >= sequence.reportedPrompt && position + 1 < sequence.prompt.length;
        if (isNew && sequence.parameters.promptLogprobs !== undefined) {
          promptRows.push({ piece, nextToken: sequence.tokenAt(position + 1) });
          promptTokens.push(token);
        }
        token += 1;
      }
      if (completesPrompt(piece)) host.rows[completed++] = token - 1;
    });
    host.rows.set(promptTokens, completed);
    return promptRows;
  }

  /** Log-probabilities of prompt tokens, by sequence. */
  async #promptReports(
    rows: readonly PromptRow[],
    logits: Tensor,
  ): Promise<PrefillResult['reports']> {
    if (rows.length === 0) return [];
    const { stream, model } = this.#options;
    const ids = Tensor.allocate(model.device, [rows.length], 'i32', { stream });
    stream.write(
      ids,
      Int32Array.from(rows, ({ nextToken }) => nextToken),
    );
    const count = Math.max(
      ...rows.map(({ piece }) => piece.sequence.parameters.promptLogprobs ?? 0),
    );
    const logprobs = await readLogprobs(
      { logits, ids, count },
      { stream, allocator: stream },
    ).finally(() => ids.dispose());
    return [...new Set(rows.map((row) => row.piece))].map((piece) => {
      const { sequence } = piece;
      const wanted = sequence.parameters.promptLogprobs ?? 0;
      const own = logprobs.filter((_, index) => rows[index]?.piece === piece);
      const tokens = own.map(({ logprob, top }) => ({ logprob, top: top.slice(0, wanted) }));
      return { sequence, tokens };
    });
  }
}
