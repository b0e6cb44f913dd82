import { describe, expect, it } from 'vitest';
import { shareOf, totalOfShare } from './share.js';

const hundredths = Array.from({ length: 100 }, (_, index) => index + 1);
const totals = Array.from({ length: 3000 }, (_, index) => index + 1);

describe('a share in hundredths', () => {
  it('is the whole part that integers say', () => {
    for (const percent of hundredths) {
      const wrong = totals.filter(
        (total) =>
          shareOf(total, percent / 100) !== Math.max(1, Math.floor((total * percent) / 100)),
      );
      expect(wrong, `${percent} %`).toEqual([]);
    }
  });

  it('comes of the least total that is enough', () => {
    for (const percent of hundredths) {
      const wrong = totals.filter(
        (part) => totalOfShare(part, percent / 100) !== Math.ceil((part * 100) / percent),
      );
      expect(wrong, `${percent} %`).toEqual([]);
    }
  });
});

it('a share that no decimal has is enough all the same, to a page', () => {
  for (let divisor = 1; divisor <= 97; divisor += 1) {
    for (let part = 1; part <= 300; part += 1) {
      const total = totalOfShare(part, 1 / divisor);
      expect(shareOf(total, 1 / divisor)).toBeGreaterThanOrEqual(part);
      if (part > 1) expect(shareOf(total - 1, 1 / divisor)).toBeLessThan(part);
    }
  }
});
