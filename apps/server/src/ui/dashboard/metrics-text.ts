/** One line of Prometheus' text. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+([+-]?(?:\d|\.\d|Inf|NaN)\S*)/;
const label = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** Parses Prometheus' text format, version 0.0.4. Lines that are no sample are left out. */
export function parseMetrics(text: string): readonly Sample[] {
  return text.split('\n').flatMap((one): Sample[] => {
    const [, name, labels = '', value = ''] = one.startsWith('#') ? [] : (line.exec(one) ?? []);
    return name === undefined ? [] : [{ name, labels: labelsOf(labels), value: numberOf(value) }];
  });
}

/** Sum over all samples of a name; undefined when the server has no such metric. */
export function total(samples: readonly Sample[], name: string): number | undefined {
  const found = samples.filter((sample) => sample.name === name);
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/** Values of a metric by one of its labels, summed over the others. */
export function byLabel(
  samples: readonly Sample[],
  name: string,
  key: string,
): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const sample of samples) {
    const at = sample.name === name ? sample.labels[key] : undefined;
    if (at !== undefined) values.set(at, (values.get(at) ?? 0) + sample.value);
  }
  return values;
}

function labelsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(label)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll(/\\(.)/g, (_, escaped: string) => escapes[escaped] ?? escaped),
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}
