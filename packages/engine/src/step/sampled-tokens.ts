import type { Stream, Tensor } from '@altstream/cuda-runtime';
import type { MaskedSampler } from '../grammar/masked-sampler.js';
import type { RowRule } from '../grammar/row-rule.js';
import type { LogitRows } from '../logprobs/logit-rows.js';
import { type RowLogprobs, readLogprobs, type Sampled, type Sampler } from '../sampler.js';
import type { Sequence } from '../sequence.js';
import { noTokens, type TokenColumns } from './token-columns.js';

/** Who chooses in the rows of a step that have a grammar. */
export interface RuledRows {
  readonly sequences: readonly Sequence[];
  readonly rules: readonly RowRule[];
  readonly masked: MaskedSampler;
  /** Who chose freely in all rows. */
  readonly sampler: Sampler;
  /** What gives log-probabilities in place of the model's logits. */
  readonly processed: LogitRows | undefined;
}

/**
 * Tokens of a step in which some rows have a grammar: those choose again, and what they chose is
 * written to the device. Log-probabilities of the model are as if there were no grammar.
 */
export async function chooseByRules(
  rows: RuledRows,
  values: { logits: Tensor; ids: Int32Array; logprobs: Float32Array; deviceIds: Tensor },
  stream: Stream,
): Promise<TokenColumns> {
  const { sequences, rules, masked, sampler, processed } = rows;
  const { logits, ids, logprobs, deviceIds } = values;
  const chosen = await masked.choose(rows, { logits, ids }, stream);
  if (chosen.size > 0) stream.write(deviceIds, ids);
  // Who is late took none of what was drawn freely.
  const late = sequences.flatMap((_, row) => (rules[row]?.end === 'late' ? [row] : []));
  sampler.recount([...chosen.keys(), ...late]);
  const first = { logits, ids: deviceIds };
  const top = await readAlternatives(rows, first, stream, chosen.size > 0);
  const own = logprobs.map((logprob, row) => top[row]?.logprob ?? logprob);
  const drawn = { ids, logprobs: own, top };
  const ends = sequences.map((_, row) => {
    // A ban of what alone may follow, such as a stop token before the least length, ends the text.
    const isStuck = chosen.get(row) === false && !Number.isNaN(logprobs[row]);
    return rules[row]?.end ?? (isStuck ? 'complete' : undefined);
  });
  return { ...(await withLogprobs(sequences, drawn, { processed, rules })), ends };
}

/** Reads sampled ids and logprobs back, with alternatives for the rows that want them. */
export async function collectSampled(
  {
    sequences,
    rules,
    ...samplers
  }: Omit<RuledRows, 'rules'> & { rules: RuledRows['rules'] | undefined },
  { logits, sampled }: { logits: Tensor; sampled: Sampled },
  stream: Stream,
): Promise<TokenColumns> {
  const rows = sequences.length;
  if (rows === 0) return noTokens;
  const ids = new Int32Array(rows);
  const logprobs = new Float32Array(rows);
  const firstIds = sampled.ids.slice(0, 0, rows);
  const firstLogits = logits.slice(0, 0, rows);
  if (rules) {
    await Promise.all([stream.read(firstIds, ids), stream.read(sampled.logprobs, logprobs)]);
    const values = { logits: firstLogits, ids, logprobs, deviceIds: firstIds };
    return chooseByRules({ sequences, rules, ...samplers }, values, stream);
  }
  const { processed } = samplers;
  const first = { logits: firstLogits, ids: firstIds };
  const [top] = await Promise.all([
    readAlternatives({ sequences, processed }, first, stream),
    stream.read(firstIds, ids),
    stream.read(sampled.logprobs.slice(0, 0, rows), logprobs),
  ]);
  return withLogprobs(sequences, { ids, logprobs, top }, { processed });
}

/** Whether a sequence asked for the best alternatives of each token. */
export function wantsAlternatives({ parameters }: Sequence): boolean {
  return (parameters.logprobs ?? 0) > 0;
}

/** Alternatives of all rows, as many as one wants; none if none does, unless `always`. */
export async function readAlternatives(
  { sequences, processed }: Pick<RuledRows, 'sequences' | 'processed'>,
  input: { readonly logits: Tensor; readonly ids: Tensor },
  stream: Stream,
  always = false,
): Promise<RowLogprobs[]> {
  const wanted = processed ? [] : sequences.map(({ parameters }) => parameters.logprobs ?? 0);
  const count = Math.max(0, ...wanted);
  return count === 0 && !always
    ? []
    : readLogprobs({ ...input, count }, { stream, allocator: stream });
}

/** The tokens of a step that is over, with the log-probabilities that its rows want. */
export async function withLogprobs(
  sequences: readonly Sequence[],
  values: {
    readonly ids: Int32Array;
    readonly logprobs: Float32Array;
    readonly top: readonly RowLogprobs[];
  },
  { processed, rules }: Pick<RuledRows, 'processed'> & { readonly rules?: RuledRows['rules'] },
): Promise<TokenColumns> {
  const drawnFrom = await processed?.logprobs(values.ids, rules);
  return {
    ids: values.ids,
    logprobs: sequences.map(
      (_, row) => drawnFrom?.get(row)?.logprob ?? values.logprobs[row] ?? Number.NaN,
    ),
    top: sequences.map(({ parameters }, row) => {
      const alternatives = values.top[row]?.top.slice(0, parameters.logprobs ?? 0);
      return drawnFrom?.get(row)?.top ?? alternatives ?? [];
    }),
  };
}
