import type { OutOfMemoryError } from '@altstream/cuda-runtime';
import { MemoryError } from '../errors/index.js';

/** Memory of a device, measured with weights, workspaces and graphs in place. */
export interface MeasuredMemory {
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** Activations of the largest steps. */
  readonly workspaceBytes: number;
  /** Of all decode graphs, estimated from the largest. */
  readonly graphBytes: number;
}

/** What the cache is for. */
export interface CacheDemand {
  readonly pageBytes: number;
  readonly pageTokens: number;
  readonly maxSequences: number;
  /** Longest sequence, in tokens. */
  readonly length: number;
  /** A given length must fit; that of the model may be cut. */
  readonly isLengthGiven: boolean;
  /** Weights of one layer, where the model says so. */
  readonly layerBytes: number | undefined;
}

/** How many pages there will be, and why; plain data for `describe()`. */
export interface CacheSize {
  readonly pages: number;
  readonly why: string;
  readonly fraction?: number;
  readonly measured?: MeasuredMemory;
  /** What was left for the cache. */
  readonly leftBytes?: number;
}

/**
 * The pages that fit beside everything else in a fraction of the memory, at most those that all
 * sequences together could fill.
 *
 * @param fraction of the whole memory that may be in use, above 0 and at most 1
 * @throws MemoryError when not even one sequence fits
 */
export function planCache(
  measured: MeasuredMemory,
  demand: CacheDemand,
  fraction: number,
): CacheSize {
  const { pageBytes, pageTokens, maxSequences, length, isLengthGiven } = demand;
  const { totalBytes, freeBytes, graphBytes } = measured;
  const leftBytes = Math.max(0, freeBytes - graphBytes - (1 - fraction) * totalBytes);
  const perSequence = Math.ceil(length / pageTokens);
  const wanted = perSequence * maxSequences;
  const fitting = pageBytes > 0 ? Math.floor(leftBytes / pageBytes) : wanted;
  const least = isLengthGiven ? perSequence : 1;
  if (fitting < least) throw doesNotFit(measured, demand, { leftBytes, fitting, least, fraction });
  const isEnough = fitting >= wanted;
  const why = isEnough
    ? `all ${maxSequences} sequences at their full length`
    : `what memory holds at a fraction of ${fraction}`;
  return { pages: Math.min(fitting, wanted), why, fraction, measured, leftBytes };
}

interface Shortage {
  readonly leftBytes: number;
  readonly fitting: number;
  readonly least: number;
  readonly fraction: number;
}

function doesNotFit(
  { totalBytes, workspaceBytes }: MeasuredMemory,
  demand: CacheDemand,
  { leftBytes, fitting, least, fraction }: Shortage,
): MemoryError {
  const { pageBytes, pageTokens, layerBytes, length, isLengthGiven } = demand;
  const neededBytes = least * pageBytes;
  const context = fitting * pageTokens;
  const layers = layerBytes ? Math.ceil((neededBytes - leftBytes) / layerBytes) : undefined;
  const what = isLengthGiven ? `one sequence of ${length} tokens` : 'one page';
  const remedies = [
    ...(context > 0 ? [`\`maxModelLength\` up to ${context}`] : []),
    ...(layers === undefined ? [] : [`about ${layers} layers fewer`]),
    `smaller steps (\`maxSequences\`, \`maxBatchedTokens\`: their workspaces take ${size(workspaceBytes)})`,
    ...(fraction < 1 ? [`\`memoryFraction\` above ${fraction}`] : []),
  ];
  return new MemoryError(
    `the KV cache does not fit: ${what} takes ${size(neededBytes)}, but of ${size(totalBytes)} only ` +
      `${size(leftBytes)} are left beside weights, workspaces and graphs at a fraction of ` +
      `${fraction}; what would help: ${remedies.join(', or ')}`,
    { neededBytes, leftBytes, pages: fitting, context },
  );
}

/** An allocation of given pages that failed, with what would fit. */
export function pagesDoNotFit(
  pages: number,
  freeBytes: number,
  { pageBytes, pageTokens, length }: CacheDemand,
  cause: unknown,
): MemoryError {
  const fitting = Math.min(pages - 1, Math.floor(freeBytes / Math.max(1, pageBytes)));
  const context = fitting * pageTokens;
  const full = Math.floor(fitting / Math.ceil(length / pageTokens));
  const would =
    full > 0 ? `${full} sequences of ${length} tokens` : `a context of ${context} tokens`;
  return new MemoryError(
    `the KV cache does not fit: ${pages} pages take ${size(pages * pageBytes)}, but ` +
      `${size(freeBytes)} are free; what would fit: \`pages\` up to about ${fitting}, ${would}`,
    { neededBytes: pages * pageBytes, leftBytes: freeBytes, pages: fitting, context },
    { cause },
  );
}

/** The largest steps themselves that failed to get their memory. */
export function stepsDoNotFit(freeBytes: number, cause: OutOfMemoryError): MemoryError {
  const neededBytes = cause.requestedBytes ?? 0;
  return new MemoryError(
    `the activations of the largest step do not fit beside the weights: ${size(neededBytes)} more were ` +
      `wanted, ${size(freeBytes)} are free; use a smaller \`maxBatchedTokens\`, \`maxSequences\` or ` +
      '`maxModelLength`, or fewer layers',
    { neededBytes, leftBytes: freeBytes, pages: 0, context: 0 },
    { cause },
  );
}

function size(bytes: number): string {
  const gib = bytes / 2 ** 30;
  if (gib >= 0.1) return `${gib.toFixed(1)} GiB`;
  return bytes >= 2 ** 19 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${Math.round(bytes)} bytes`;
}
