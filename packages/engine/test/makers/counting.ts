import type { Runtime } from '@altstream/cuda-runtime';
import { type GenerationEvent, MarkovModel } from '../../src/index.js';

/** Ids of the test models. */
export const vocab = 32;

/** A model whose greedy continuation of `id` is `id + 1`, `id + 2`, … */
export function countingModel(
  runtime: Runtime,
  limits: { maxPositions?: number; pageTokens?: number } = {},
): Promise<MarkovModel> {
  const logits = new Float32Array(vocab * vocab);
  for (let id = 0; id < vocab; id += 1) logits[id * vocab + ((id + 1) % vocab)] = 50;
  return MarkovModel.create(runtime, logits, limits);
}

/** [vocab, vocab], logits of the model below. */
export const smoothLogits = Float32Array.from(
  { length: vocab * vocab },
  (_, index) => Math.sin(index * 12.9898) * 3,
);

/** A model with smooth logits, for sampling and log-probabilities. */
export function smoothModel(
  runtime: Runtime,
  limits: { maxPositions?: number; pageTokens?: number } = {},
): Promise<MarkovModel> {
  return MarkovModel.create(runtime, smoothLogits, limits);
}

/** The ids that follow `last` in the counting model. */
export function counted(last: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => (last + 1 + n) % vocab);
}

/** All events of a generation. */
export async function collect(events: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  const all: GenerationEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The generated ids among events. */
export function ids(events: readonly GenerationEvent[]): number[] {
  return events.flatMap((event) => (event.type === 'token' ? [event.id] : []));
}
