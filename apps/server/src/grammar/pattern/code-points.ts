/** Code points as inclusive ranges, in any order. */
export type CodePoints = readonly (readonly [from: number, to: number])[];

const last = 0x10ffff;
const surrogates = [0xd800, 0xdfff] as const;

/** Everything else; never surrogates, which no text has alone. */
export function complement(points: CodePoints): CodePoints {
  const sorted = [...points, surrogates].sort(([a], [b]) => a - b);
  const result: [number, number][] = [];
  let next = 0;
  for (const [from, to] of sorted) {
    if (from > next) result.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= last) result.push([next, last]);
  return result;
}

/** What is in both. */
export function intersection(a: CodePoints, b: CodePoints): CodePoints {
  return complement([...complement(a), ...complement(b)]);
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
