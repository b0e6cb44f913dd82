/** A share is a decimal that binary fractions miss: 0.29 · 100 is 28.999…; so much is forgiven. */
const rounding = 4 * Number.EPSILON;

/** The whole part of a total that belongs to a share, at least one. @param share in (0, 1] */
export function shareOf(total: number, share: number): number {
  return Math.max(1, Math.floor(total * share * (1 + rounding)));
}

/** The least total of which the share is at least `part`. @param share in (0, 1] */
export function totalOfShare(part: number, share: number): number {
  const total = Math.ceil((part / share) * (1 - rounding));
  return shareOf(total, share) < part ? total + 1 : total;
}
