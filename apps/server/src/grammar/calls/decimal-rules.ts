/** Digits before the point, of a bound and at most. */
export const mostDigits = 16;

/** One end of what numbers without a sign may be, as its digits. */
export interface DecimalBound {
  /** Without zeros in front. */
  readonly whole: string;
  /** Behind the point, without zeros at the end. */
  readonly places: string;
  /** The bound itself is no such number. */
  readonly isOpen: boolean;
}

/** Both ends; a missing upper one is the most digits. */
export interface DecimalRange {
  readonly low: DecimalBound;
  readonly high: DecimalBound | undefined;
}

/** How numbers are written. */
export interface DecimalForm {
  /** Digits behind the point, at most. */
  readonly mostPlaces: number;
  /** Gives the name of a rule of that body, one for all places that want it. */
  readonly share: (body: string) => string;
}

/** Compares what is written so far with as many digits of a bound: below, alike or above. */
type Side = -1 | 0 | 1;

/** Where what is written so far stands. */
interface Sides {
  readonly low: Side;
  readonly high: Side;
}

/** What may be written next; none at all is a dead end. */
type Alternatives = readonly string[];

/**
 * Numbers without a sign as alternatives, decided digit by digit: of alternatives that share their
 * characters the library takes texts that are in none of them. Only where a number is as far as a
 * bound goes its next digit matters, so there are two chains of digits, and runs of any. Those are
 * rules of their own: compiled at each place again they would take the library a hundred times as
 * long.
 *
 * @returns none if no number is between the bounds
 */
export function decimalRules(range: DecimalRange, form: DecimalForm): Alternatives {
  return new DecimalTree(range, form).whole(0, { low: 0, high: range.high ? 0 : -1 });
}

class DecimalTree {
  readonly #low: DecimalBound;
  readonly #high: DecimalBound | undefined;
  readonly #mostPlaces: number;
  readonly #share: DecimalForm['share'];

  constructor({ low, high }: DecimalRange, { mostPlaces, share }: DecimalForm) {
    this.#low = low;
    this.#high = high;
    this.#mostPlaces = mostPlaces;
    this.#share = share;
  }

  /** Behind so many digits of the whole number. */
  whole(written: number, sides: Sides): Alternatives {
    const { length } = this.#low.whole;
    const most = this.#high?.whole.length ?? mostDigits;
    if (sides.low !== 0 && sides.high !== 0) {
      // The count of digits is all that matters yet.
      const to = most - (sides.high > 0 ? 1 : 0) - written;
      const from = Math.max(0, length + (sides.low < 0 ? 1 : 0) - written);
      if (from > to) return [];
      if (to === 0) return [this.#anyPlaces()];
      return [this.#share(sequence(run('[0-9]', from, to), this.#anyPlaces()))];
    }
    const next = (first: string, at: Sides): Alternatives =>
      // A zero in front is the whole of it.
      first === '0' && written === 0 ? this.#wholeEnd(1, at) : this.whole(written + 1, at);
    const digits = {
      // What is longer than the lower bound is above it.
      low: sides.low || (this.#low.whole[written] ?? 1),
      high: sides.high || (this.#high?.whole[written] ?? 1),
    };
    const branches = written < most ? branchesOf(digits, next) : [];
    return written === 0 ? branches : [...branches, ...this.#wholeEnd(written, sides)];
  }

  /** Where the whole number has no more digits. */
  #wholeEnd(written: number, sides: Sides): Alternatives {
    const low = sideOf(written - this.#low.whole.length) || sides.low;
    const high = this.#high ? sideOf(written - this.#high.whole.length) || sides.high : -1;
    if (low < 0 || high > 0) return [];
    if (low > 0 && high < 0) return [this.#anyPlaces()];
    const digits = this.#mostPlaces > 0 ? this.#places(0, { low, high }) : [];
    return [
      ...(digits.length > 0 ? [`"." ${group(digits)}`] : []),
      ...(this.#isEnd(0, { low, high }) ? ['""'] : []),
    ];
  }

  /** Behind the point and so many digits, of which there is one at least. */
  #places(written: number, { low: atLow, high }: Sides): Alternatives {
    const { places, isOpen } = this.#low;
    const low = atLow === 0 && written >= places.length && !isOpen ? 1 : atLow;
    if (low < 0 || high > 0) return [];
    const rest = this.#mostPlaces - written;
    const least = written === 0 ? 1 : 0;
    if (low > 0 && high < 0) return [run('[0-9]', least, rest)];
    const isWholeHigh = high === 0 && written >= (this.#high?.places.length ?? 0);
    if (isWholeHigh) {
      const isIn = low > 0 && !this.#high?.isOpen;
      return isIn ? [run('"0"', least, rest)] : [];
    }
    const next = (_: string, at: Sides): Alternatives => this.#places(written + 1, at);
    const digits = {
      low: low || (places[written] ?? '0'),
      high: high || (this.#high?.places[written] ?? '0'),
    };
    const isEnd = written > 0 && this.#isEnd(written, { low, high });
    return [...(rest > 0 ? branchesOf(digits, next) : []), ...(isEnd ? ['""'] : [])];
  }

  /** Whether a number may end where it has a bound's digits so far. */
  #isEnd(written: number, { low, high }: Sides): boolean {
    const isAboveLow = low !== 0 || (written >= this.#low.places.length && !this.#low.isOpen);
    const { places = '', isOpen = false } = this.#high ?? {};
    return isAboveLow && (high !== 0 || written < places.length || !isOpen);
  }

  #anyPlaces(): string {
    if (this.#mostPlaces === 0) return '""';
    return this.#share(`("." ${run('[0-9]', 1, this.#mostPlaces)})?`);
  }
}

/** Of each bound its digit there, or where the number stands already. */
interface NextDigits {
  readonly low: string | Side;
  readonly high: string | Side;
}

/** A digit, and what may follow it, for all digits with which the number stands alike. */
function branchesOf(
  { low, high }: NextDigits,
  next: (first: string, sides: Sides) => Alternatives,
): Alternatives {
  const alike: { first: number; last: number; readonly sides: Sides; readonly isZero: boolean }[] =
    [];
  for (let digit = 0; digit < 10; digit += 1) {
    const sides = { low: sideAt(digit, low), high: sideAt(digit, high) };
    const before = alike.at(-1);
    const isAlike = before?.sides.low === sides.low && before.sides.high === sides.high;
    if (before && isAlike && !before.isZero) before.last = digit;
    else alike.push({ first: digit, last: digit, sides, isZero: digit === 0 });
  }
  return alike.flatMap(({ first, last, sides }) => {
    const rest = next(`${first}`, sides);
    if (rest.length === 0) return [];
    return [sequence(first === last ? `"${first}"` : `[${first}-${last}]`, group(rest))];
  });
}

function sideAt(digit: number, bound: string | Side): Side {
  return typeof bound === 'number' ? bound : sideOf(digit - Number(bound));
}

function sideOf(difference: number): Side {
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

function run(set: string, least: number, most: number): string {
  if (most === 0) return '""';
  return least === 1 && most === 1 ? set : `${set}{${least},${most}}`;
}

function sequence(first: string, rest: string): string {
  if (rest === '""') return first;
  return first === '""' ? rest : `${first} ${rest}`;
}

function group(alternatives: Alternatives): string {
  const [only = '""', other] = alternatives;
  return other === undefined ? only : `(${alternatives.join(' | ')})`;
}
