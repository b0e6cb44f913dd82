/**
 * How many characters at the end of `text` must wait for more text: the longest suffix that is a
 * proper prefix of a marker, and the first half of a surrogate pair.
 */
export function heldLength(text: string, markers: readonly string[]): number {
  let held = endsInsidePair(text) ? 1 : 0;
  for (const marker of markers) {
    for (let size = Math.min(marker.length - 1, text.length); size > held; size--) {
      if (text.endsWith(marker.slice(0, size))) held = size;
    }
  }
  return held;
}

function endsInsidePair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
