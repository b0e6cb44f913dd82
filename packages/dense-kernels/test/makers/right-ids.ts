import { referenceUnit } from '../reference/philox.js';
import { referenceDistribution, referenceDraw } from '../reference/sampling.js';
import type { HostRow } from './sampling.js';
import { cdfShift } from './tolerance.js';

/**
 * The id of the reference. Where the random number or top-p lies within `cdfShift` of a border, the
 * ids on its other side are right too, if a filter did not remove them.
 */
export function rightIds({ logits, settings, seed, position }: HostRow): (id: number) => boolean {
  const unit = referenceUnit(seed, position);
  const topPs = settings.topP < 1 ? [-cdfShift, 0, cdfShift] : [0];
  const ranges = topPs.map((shift) => {
    const shifted = { ...settings, topP: settings.topP + shift };
    const probabilities = referenceDistribution(logits, shifted);
    const first = referenceDraw(probabilities, unit - cdfShift);
    const last = referenceDraw(probabilities, unit + cdfShift);
    return { probabilities, first, last };
  });
  return (id) =>
    ranges.some(
      ({ probabilities, first, last }) => id >= first && id <= last && (probabilities[id] ?? 0) > 0,
    );
}
