/** A name further away than this share of its length is another name, not a slip. */
const mostSlips = 0.4;

/** The known name that a person most likely meant; undefined when none is near. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  let best: { readonly name: string; readonly slips: number } | undefined;
  for (const name of known) {
    const slips = distance(given, name);
    const isNear = slips <= Math.max(given.length, name.length) * mostSlips;
    if (isNear && slips < (best?.slips ?? Number.POSITIVE_INFINITY)) best = { name, slips };
  }
  return best?.name;
}

/** Characters to insert, delete, replace or swap with their neighbour until `a` is `b`. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped && row > 1 && column > 1 ? at(beforeLast, column - 2) + 1 : b.length + a.length,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
