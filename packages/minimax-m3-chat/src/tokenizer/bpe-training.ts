import { textToEntry } from './byte-alphabet.js';

/** How GPT-2's byte-level pre-tokenizer cuts text into words. */
const words = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Two vocabulary entries that become one. */
export type Merge = readonly [left: string, right: string];

/**
 * Learns byte-pair merges from a text: the most frequent pair first, ties to the pair that sorts
 * first. Small and slow: for vocabularies of a few thousand entries.
 * @param count  merges wanted; fewer come back when no pair occurs twice
 * @param bytes  entries of single bytes that the vocabulary holds; others break words
 */
export function trainMerges(corpus: string, count: number, bytes: ReadonlySet<string>): Merge[] {
  const frequencies = new Map<string, number>();
  for (const [word] of corpus.matchAll(words)) {
    const entry = textToEntry(word);
    frequencies.set(entry, (frequencies.get(entry) ?? 0) + 1);
  }
  const pieces = Array.from(frequencies, ([word, times]) => ({ parts: Array.from(word), times }));
  const known = new Set(bytes);
  const merges: Merge[] = [];
  while (merges.length < count) {
    const best = mostFrequentPair(pieces, known);
    if (best === null) break;
    merges.push(best);
    known.add(best.join(''));
    for (const piece of pieces) piece.parts = mergeParts(piece.parts, best);
  }
  return merges;
}

interface Piece {
  parts: string[];
  readonly times: number;
}

function mostFrequentPair(pieces: readonly Piece[], known: ReadonlySet<string>): Merge | null {
  const counts = new Map<string, { pair: Merge; times: number }>();
  for (const { parts, times } of pieces) {
    for (let i = 1; i < parts.length; i++) {
      const pair: Merge = [parts[i - 1] ?? '', parts[i] ?? ''];
      // An entry can be reached in one way only, or ids would not be dense.
      if (!pair.every((part) => known.has(part)) || known.has(pair.join(''))) continue;
      const counted = counts.get(pair.join(' '));
      if (counted === undefined) counts.set(pair.join(' '), { pair, times });
      else counted.times += times;
    }
  }
  let best: { key: string; pair: Merge; times: number } | null = null;
  for (const [key, { pair, times }] of counts) {
    const isBetter =
      best === null || times > best.times || (times === best.times && key < best.key);
    if (times > 1 && isBetter) best = { key, pair, times };
  }
  return best?.pair ?? null;
}

function mergeParts(parts: string[], [left, right]: Merge): string[] {
  const merged: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const isPair = parts[i] === left && parts[i + 1] === right;
    merged.push(isPair ? left + right : (parts[i] ?? ''));
    if (isPair) i++;
  }
  return merged;
}
