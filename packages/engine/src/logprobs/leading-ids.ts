/** Whether an id comes before another: the larger logit, among equal ones the lower id. */
export function comesBefore(logits: Float32Array, a: number, b: number): boolean {
  const [first = 0, second = 0] = [logits[a], logits[b]];
  return first > second || (first === second && a < b);
}

/**
 * Brings the likeliest ids to the front, in no order: as few of them as have `target` measures
 * together, at least one. A quickselect, so its time is some passes over the ids and not a sort.
 *
 * @param ids distinct ids of the logits; permuted
 * @param measureOf above or equal 0; the likeliest id's is above 0
 * @returns how many ids those are; all, if they do not reach the target
 */
export function selectLeading(
  logits: Float32Array,
  ids: Int32Array,
  target: number,
  measureOf: (id: number) => number,
): number {
  const least = Math.max(target, Number.MIN_VALUE);
  let [low, high, reached] = [0, ids.length, 0];
  while (low < high) {
    const middle = partition(logits, ids, low, high);
    let before = reached;
    for (let place = low; place < middle; place += 1) before += measureOf(ids[place] ?? 0);
    const through = before + measureOf(ids[middle] ?? 0);
    if (before >= least) high = middle;
    else if (through >= least) return middle + 1;
    else [low, reached] = [middle + 1, through];
  }
  return low;
}

/** Ids of a range that come before its pivot to the left of it. @returns the pivot's place */
function partition(logits: Float32Array, ids: Int32Array, low: number, high: number): number {
  const last = high - 1;
  swap(ids, medianPlace(logits, ids, low, last), last);
  const pivot = ids[last] ?? 0;
  const pivotLogit = logits[pivot] ?? 0;
  let left = low;
  for (let place = low; place < last; place += 1) {
    const id = ids[place] ?? 0;
    const logit = logits[id] ?? 0;
    if (logit > pivotLogit || (logit === pivotLogit && id < pivot)) {
      ids[place] = ids[left] ?? 0;
      ids[left] = id;
      left += 1;
    }
  }
  swap(ids, left, last);
  return left;
}

/** Of first, middle and last place: ids in ascending or descending order are no bad case. */
function medianPlace(logits: Float32Array, ids: Int32Array, first: number, last: number): number {
  const middle = (first + last) >> 1;
  const before = (a: number, b: number) => comesBefore(logits, ids[a] ?? 0, ids[b] ?? 0);
  if (before(first, middle)) {
    if (before(middle, last)) return middle;
    return before(first, last) ? last : first;
  }
  if (before(first, last)) return first;
  return before(middle, last) ? last : middle;
}

function swap(ids: Int32Array, a: number, b: number): void {
  const id = ids[a] ?? 0;
  ids[a] = ids[b] ?? 0;
  ids[b] = id;
}
