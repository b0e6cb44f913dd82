/** One value of the text that Prometheus reads. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of one name, as their two comment lines announce them. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const comment = new RegExp(`^# (HELP|TYPE) (${name}) (.+)$`);
const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/;
const line = new RegExp(`^(${name})(?:\\{(.*)\\})? (\\S+)$`);
const suffixes: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Reads the text format 0.0.4 and refuses whatever is not of it: names, labels and their order,
 * values, types, samples outside their family, the same sample twice, histograms that do not grow
 * or lack `+Inf`.
 */
export function readExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let helped: [name: string, help: string] | undefined;
  let current: string | undefined;
  for (const one of text.split('\n').filter((given) => given !== '')) {
    const [, kind, subject = '', rest = ''] = comment.exec(one) ?? [];
    if (kind === 'HELP') helped = [subject, rest];
    else if (kind === 'TYPE') {
      if (helped?.[0] !== subject) throw new Error(`${subject} has a type before its help`);
      if (families.has(subject)) throw new Error(`${subject} comes twice`);
      if (!/^(counter|gauge|histogram|summary)$/.test(rest)) throw new Error(`${one}: what type`);
      families.set(subject, { type: rest, help: helped[1], samples: [] });
      current = subject;
    } else {
      const sample = readSample(one);
      const key = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (seen.has(key)) throw new Error(`${one}: comes twice`);
      seen.add(key);
      const family = families.get(current ?? '');
      const ends = suffixes[family?.type ?? ''] ?? [''];
      if (!family || !ends.some((end) => sample.name === `${current}${end}`)) {
        throw new Error(`${one}: not in the family ${current}`);
      }
      family.samples.push(sample);
    }
  }
  for (const [subject, { type, samples }] of families) {
    if (type === 'histogram') checkHistogram(subject, samples);
  }
  return families;
}

function readSample(text: string): Sample {
  const [, subject, inner = '', number = ''] = line.exec(text) ?? [];
  if (subject === undefined) throw new Error(`${text}: no sample`);
  const labels: Record<string, string> = {};
  for (let rest = inner; rest !== ''; ) {
    const [whole, key = '', value = ''] = label.exec(rest) ?? [];
    if (whole === undefined || key in labels) throw new Error(`${text}: labels at ${rest}`);
    labels[key] = value.replaceAll(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one));
    rest = rest.slice(whole.length);
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (Number.isNaN(value) && number !== 'NaN' && number !== 'Nan')
    throw new Error(`${text}: value`);
  return { name: subject, labels, value };
}

function checkHistogram(subject: string, samples: readonly Sample[]): void {
  const series = new Map<string, { buckets: [bound: number, count: number][]; count: number }>();
  for (const { name: full, labels, value } of samples) {
    const { le, ...rest } = labels;
    const key = JSON.stringify(rest);
    const one = series.get(key) ?? { buckets: [], count: Number.NaN };
    series.set(key, one);
    if (full.endsWith('_bucket'))
      one.buckets.push([Number(le?.replace('+Inf', 'Infinity')), value]);
    if (full.endsWith('_count')) one.count = value;
  }
  for (const { buckets, count } of series.values()) {
    const isSorted = buckets.every(([bound, total], index) => {
      const [before = Number.NEGATIVE_INFINITY, least = 0] = buckets[index - 1] ?? [];
      return bound > before && total >= least;
    });
    const [bound, all] = buckets.at(-1) ?? [];
    if (!isSorted || bound !== Number.POSITIVE_INFINITY || all !== count) {
      throw new Error(`${subject}: buckets ${JSON.stringify(buckets)}, count ${count}`);
    }
  }
}
