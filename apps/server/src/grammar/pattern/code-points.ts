/** Code points as inclusive ranges, in any order. */
export type CodePoints = readonly (readonly [from: number, to: number])[];

const last = 0x10ffff;
const surrogates = [0xd800, 0xdfff] as const;

/** Everything else; never surrogates, which no text has alone. */
export function complement(points: CodePoints): CodePoints {
  const result: [number, number][] = [];
  let next = 0;
  for (const [from, to] of ordered([...points, surrogates])) {
    if (from > next) result.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= last) result.push([next, last]);
  return result;
}

/** What is in both, in order. */
export function intersection(a: CodePoints, b: CodePoints): CodePoints {
  const [some, others] = [united(a), united(b)];
  const result: [number, number][] = [];
  let [index, other] = [0, 0];
  while (index < some.length && other < others.length) {
    const [from, to] = some[index] as readonly [number, number];
    const [otherFrom, otherTo] = others[other] as readonly [number, number];
    const [first, end] = [Math.max(from, otherFrom), Math.min(to, otherTo)];
    if (first <= end) result.push(...withoutSurrogates(first, end));
    if (to < otherTo) index += 1;
    else other += 1;
  }
  return result;
}

/** In order, without overlaps and without neighbours. */
function united(points: CodePoints): CodePoints {
  const result: [number, number][] = [];
  for (const [from, to] of ordered(points)) {
    const before = result.at(-1);
    if (before && from <= before[1] + 1) before[1] = Math.max(before[1], to);
    else result.push([from, to]);
  }
  return result;
}

function ordered(points: CodePoints): CodePoints {
  const isOrdered = points.every(([from], index) => from >= (points[index - 1]?.[0] ?? 0));
  return isOrdered ? points : [...points].sort(([a], [b]) => a - b);
}

function withoutSurrogates(from: number, to: number): [number, number][] {
  const [first, end] = surrogates;
  if (to < first || from > end) return [[from, to]];
  const parts: [number, number][] = [
    [from, first - 1],
    [end + 1, to],
  ];
  return parts.filter(([start, stop]) => start <= stop);
}

const digits: CodePoints = [[0x30, 0x39]];
const word: CodePoints = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
/** Of ASCII only: the library can leave single characters out of the rest only all together. */
const space: CodePoints = [
  [0x09, 0x0d],
  [0x20, 0x20],
];

/** What `.` stands for: all but ends of lines. */
export const anyPoint: CodePoints = complement([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
]);

/** What `\d`, `\W` and the like stand for, by their letters. */
export const namedPoints: ReadonlyMap<string, CodePoints> = new Map([
  ['d', digits],
  ['D', complement(digits)],
  ['w', word],
  ['W', complement(word)],
  ['s', space],
  ['S', complement(space)],
]);
