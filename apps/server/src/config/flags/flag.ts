import { InvalidArgumentError, Option } from 'commander';

/** An option whose environment twin is `ALTSTREAM_` and the flag in capitals. */
export function flag(flags: string, description: string): Option {
  const option = new Option(flags, description);
  const name = (option.long ?? '').slice(2).toUpperCase().replaceAll('-', '_');
  return option.env(`ALTSTREAM_${name}`);
}

/** Reads an integer of a range. */
function integer(text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most)
    return value;
  throw new InvalidArgumentError(`Expected an integer from ${least} to ${most}.`);
}

/** An integer of 1 or more. */
export const positive = (text: string): number => integer(text, 1, 2 ** 31 - 1);
/** An integer of 0 or more. */
export const natural = (text: string): number => integer(text, 0, 2 ** 31 - 1);
/** A port; 0 is any. */
export function port(text: string): number {
  // In a pod, a Service named altstream sets the variable of --port to its own address.
  if (/^(tcp|udp):\/\//.test(text)) {
    const remedy = 'set enableServiceLinks: false in the pod, or name the Service otherwise';
    throw new InvalidArgumentError(`That is what Kubernetes sets for a Service; ${remedy}.`);
  }
  return integer(text, 0, 65_535);
}

/** An integer from 1 to the most. */
export const upTo =
  (most: number) =>
  (text: string): number =>
    integer(text, 1, most);

/** A path such as `/api/m3`: what a proxy puts before every route. */
export function pathPrefix(text: string): string {
  if (/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text) && text.length <= 256) return text;
  throw new InvalidArgumentError(
    'Expected a path with a slash before it and none at its end, such as /api/m3.',
  );
}

/** A URL of HTTP or HTTPS. */
export function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password || url?.search) {
    throw new InvalidArgumentError(
      'A URL is shown to operators: credentials belong in OTEL_EXPORTER_OTLP_HEADERS.',
    );
  }
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new InvalidArgumentError('Expected a URL such as http://127.0.0.1:4318/v1/traces.');
}
