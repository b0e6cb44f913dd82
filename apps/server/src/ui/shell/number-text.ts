/** A number for people: three digits that count, thousands apart; a dash for none. */
export function numberText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const [whole = '', part] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return part === undefined || Number(part) === 0 ? grouped : `${grouped}.${part}`;
}

/** Seconds as µs, ms or s. */
export function secondsText(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds < 1e-3) return `${numberText(seconds * 1e6)} µs`;
  return seconds < 1 ? `${numberText(seconds * 1e3)} ms` : `${numberText(seconds)} s`;
}

/** A share of 0 … 1 in percent. */
export function shareText(share: number | undefined): string {
  return share === undefined || !Number.isFinite(share) ? '–' : `${numberText(share * 100)} %`;
}
