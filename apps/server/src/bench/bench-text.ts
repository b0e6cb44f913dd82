import { type BenchReport, metricNames } from './bench-report.js';

const titles: Readonly<Record<(typeof metricNames)[number], string>> = {
  ttft: 'Time to first token',
  queued_ttft: 'Time to first token since arrival',
  tpot: 'Time per output token, without the first',
  itl: 'Gaps between chunks',
  e2el: 'Time to last token',
};

const width = 44;

/** The report as a person reads it. */
export function benchText(report: BenchReport): string {
  const { errors, failed, completed } = report as {
    errors: Record<string, number>;
    failed: number;
    completed: number;
  };
  return [
    heading('Serving benchmark'),
    line('Completed requests', report['completed'], 0),
    line('Failed requests', failed, 0),
    line('Duration, s', report['duration']),
    line('Input tokens', report['total_input_tokens'], 0),
    line('Input tokens found in the cache', report['total_cached_tokens'], 0),
    line('Output tokens', report['total_output_tokens'], 0),
    line('Output tokens, counted here', report['total_output_tokens_retokenized'], 0),
    ...(report['request_throughput'] === null
      ? [`Throughput is not shown: ${failed} of ${failed + completed} requests failed\n`]
      : throughput(report)),
    line('Tokens per chunk', report['tokens_per_chunk']),
    ...metricNames.flatMap((name) => metric(report, name)),
    ...turns(report),
    ...reasons(errors),
  ].join('');
}

function throughput(report: BenchReport): string[] {
  return [
    line('Requests/s', report['request_throughput']),
    line('Requests/s within the goals', report['request_goodput']),
    line('Input tokens/s', report['input_throughput']),
    line('Output tokens/s', report['output_throughput']),
    line('Most output tokens in a second', report['max_output_tokens_per_s']),
    line('All tokens/s', report['total_token_throughput']),
    line('Concurrency', report['concurrency']),
    line('Most requests at once', report['max_concurrent_requests'], 0),
  ];
}

function metric(report: BenchReport, name: (typeof metricNames)[number]): string[] {
  const known = new RegExp(`^(mean|median|std|p[\\d.]+|max)_${name}_ms$`);
  const lines = Object.entries(report).flatMap(([key, value]) => {
    const kind = known.exec(key)?.[1];
    return kind === undefined ? [] : [line(`  ${kind}, ms`, value)];
  });
  return lines.every((text) => text === '') ? [] : [heading(titles[name]), ...lines];
}

function turns({ mean_ttft_ms_by_turn: means }: BenchReport): string[] {
  if (!Array.isArray(means)) return [];
  const lines = means.map((mean, index) => line(`  request ${index + 1}, ms`, mean));
  return [heading('Mean time to first token in a dialogue'), ...lines];
}

function reasons(errors: Readonly<Record<string, number>>): string[] {
  const all = Object.entries(errors).sort(([, a], [, b]) => b - a);
  if (all.length === 0) return [];
  return [heading('Why requests failed'), ...all.map(([why, count]) => `${count} × ${why}\n`)];
}

function heading(text: string): string {
  return `${`-- ${text} `.padEnd(width + 14, '-')}\n`;
}

/** Nothing for what was not measured. */
function line(name: string, value: unknown, digits = 2): string {
  if (typeof value !== 'number') return '';
  return `${name.padEnd(width)}${value.toFixed(digits).padStart(14)}\n`;
}
