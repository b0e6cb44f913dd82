/** One of a range of characters; or any digits, so many at most. */
export type Piece = readonly [first: string, last: string] | { readonly most: number };

/** Pieces one behind the other. */
export type DigitWay = readonly Piece[];

const symbols = ['.', ...'0123456789'];

/** A text as pieces. */
export function exactly(text: string): DigitWay {
  return Array.from(text, (letter) => [letter, letter] as const);
}

/** So many digits, whatever they are. */
export function anyDigits(count: number): DigitWay {
  return Array.from({ length: count }, () => ['0', '9'] as const);
}

/** Whole numbers without a sign, from one to another. */
export function wholeNumbers(from: bigint, to: bigint): DigitWay[] {
  if (from > to) return [];
  const [low, high] = [String(from), String(to)];
  if (low.length === high.length) return digitsBetween(low, high);
  const ways = [
    ...digitsBetween(low, '9'.repeat(low.length)),
    ...digitsBetween(`1${'0'.repeat(high.length - 1)}`, high),
  ];
  const more = high.length - low.length - 2;
  if (more < 0) return ways;
  return [...ways, [['1', '9'], ...anyDigits(low.length), { most: more }]];
}

/** Texts of so many digits, leading zeros included, between two of that length. */
export function digitsBetween(low: string, high: string): DigitWay[] {
  if (low > high) return [];
  if (low === high) return [exactly(low)];
  const [first, last] = [low.charAt(0), high.charAt(0)];
  const begun = (digit: string, ways: readonly DigitWay[]): DigitWay[] =>
    ways.map((way) => [[digit, digit], ...way]);
  if (first === last) return begun(first, digitsBetween(low.slice(1), high.slice(1)));
  const rest = low.length - 1;
  const [zeros, nines] = ['0'.repeat(rest), '9'.repeat(rest)];
  const from = Number(first) + (low.slice(1) === zeros ? 0 : 1);
  const to = Number(last) - (high.slice(1) === nines ? 0 : 1);
  return [
    ...(from > Number(first) ? begun(first, digitsBetween(low.slice(1), nines)) : []),
    ...(from <= to ? [[[`${from}`, `${to}`], ...anyDigits(rest)] as DigitWay] : []),
    ...(to < Number(last) ? begun(last, digitsBetween(zeros, high.slice(1))) : []),
  ];
}

/**
 * The ways as a body of rules, decided character by character: of alternatives that share their
 * characters the library takes texts that are in none of them.
 */
export function rulesOfWays(ways: readonly DigitWay[]): string {
  const [only, other] = ways;
  if (only && !other) return flat(only);
  const isEnd = ways.some((way) => way.every((piece) => 'most' in piece));
  const groups = new Map<string, { readonly next: DigitWay[]; symbols: string[] }>();
  for (const symbol of symbols) {
    const next = unique(ways.flatMap((way) => behind(way, symbol)));
    if (next.length === 0) continue;
    const key = JSON.stringify(next);
    const group = groups.get(key) ?? { next, symbols: [] };
    group.symbols.push(symbol);
    groups.set(key, group);
  }
  const branches = Array.from(groups.values(), (group) => {
    const rest = rulesOfWays(group.next);
    const set = `[${group.symbols.join('')}]`;
    if (rest === '""') return set;
    return group.next.length === 1 ? `${set} ${rest}` : `${set} (${rest})`;
  });
  return [...branches, ...(isEnd ? ['""'] : [])].join(' | ');
}

/** What may follow the character in a way that begins with it. */
function behind(way: DigitWay, symbol: string): DigitWay[] {
  const [piece, ...rest] = way;
  if (piece === undefined) return [];
  if ('most' in piece) {
    const more = piece.most > 1 ? [{ most: piece.most - 1 }, ...rest] : rest;
    const own = symbol === '.' || piece.most === 0 ? [] : [more];
    return [...own, ...behind(rest, symbol)];
  }
  const [first, last] = piece;
  return first <= symbol && symbol <= last ? [rest] : [];
}

function flat(way: DigitWay): string {
  const parts = way.map((piece) => {
    if ('most' in piece) return piece.most === 0 ? '""' : `[0-9]{0,${piece.most}}`;
    return piece[0] === piece[1] ? `"${piece[0]}"` : `[${piece[0]}-${piece[1]}]`;
  });
  return parts.join(' ') || '""';
}

function unique(ways: readonly DigitWay[]): DigitWay[] {
  return [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
}
