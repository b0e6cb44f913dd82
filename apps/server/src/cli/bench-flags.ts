import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ResultFlags } from '../bench/bench-files.js';
import { type MetricName, metricNames } from '../bench/bench-report.js';
import { jsonObject } from '../config/json-object.js';
import { addClientFlags, type ClientFlags } from './client-flags.js';

/** Options of `altstream bench` as commander gives them. */
export interface BenchFlags extends ClientFlags, ResultFlags {
  readonly backend: 'openai' | 'openai-chat';
  readonly datasetName: 'random' | 'sharegpt' | 'replay' | 'tool-use' | 'long-1m';
  readonly datasetPath?: string;
  readonly tokenizer?: string;
  readonly numPrompts?: number;
  readonly randomInputLen?: number;
  readonly randomOutputLen: number;
  readonly randomRangeRatio: number;
  readonly randomPrefixLen: number;
  readonly randomPrefixGroups: number;
  readonly sharegptOutputLen?: number;
  readonly toolUseTurns: number;
  readonly toolUseTools: number;
  readonly toolUseResultLen: number;
  readonly requestRate: number;
  readonly burstiness: number;
  readonly maxConcurrency?: number;
  readonly warmup: number;
  readonly timeout: number;
  readonly seed: number;
  readonly temperature: number;
  readonly ignoreEos?: boolean;
  readonly extraBody?: Readonly<Record<string, unknown>>;
  readonly goodput?: ReadonlyMap<'ttft' | 'tpot' | 'e2el', number>;
  readonly percentileMetrics: readonly MetricName[];
  readonly metricPercentiles: readonly number[];
  readonly flushCache?: boolean;
  readonly profile?: boolean;
  readonly saveDetailed?: boolean;
  readonly label?: string;
}

/** Adds the flags; names are those of `vllm bench serve`, or of sglang's `bench_serving`. */
export function addBenchFlags(command: Command): Command {
  addClientFlags(command)
    .addOption(
      new Option('--backend <api>', 'text completions, or chat')
        .choices(['openai', 'openai-chat'])
        .default('openai'),
    )
    .option('--tokenizer <dir>', 'folder of a tokenizer.json that counts tokens here')
    .option('--num-prompts <n>', 'requests in all (default: 100; of long-1m 1)', positive)
    .option('--request-rate <r>', 'requests a second; inf = all at once', rate, Infinity)
    .option('--burstiness <shape>', '1 = Poisson, below = bursts, above = evener', above0, 1)
    .option('--max-concurrency <n>', 'requests under way at once', positive)
    .option('--warmup <n>', 'requests before the run that do not count', natural, 1)
    .option('--timeout <s>', 'seconds for one answer', positive, 600)
    .option('--seed <n>', 'of prompts and arrivals', natural, 0)
    .option('--temperature <t>', '0 = the most likely token', numberFrom0, 0)
    .option('--ignore-eos', 'answers are as long as asked for')
    .option('--extra-body <json>', 'further fields of each request', jsonObject)
    .option('--flush-cache', 'POST /flush_cache before the run')
    .option('--profile', 'POST /start_profile before the run and /stop_profile after it');
  addWorkloadFlags(command);
  return addReportFlags(command);
}

function addWorkloadFlags(command: Command): void {
  command
    .addOption(
      new Option(
        '--dataset-name <name>',
        'random words, dialogues of a file, requests of a trace, dialogues with tools, or very long prompts',
      )
        .choices(['random', 'sharegpt', 'replay', 'tool-use', 'long-1m'])
        .default('random'),
    )
    .option('--dataset-path <file>', 'dialogues (.json, .jsonl), or what --record-trace wrote')
    .option(
      '--random-input-len <n>',
      'tokens of a prompt (default: 1024; of long-1m a million, or what fits)',
      positive,
    )
    .option('--random-output-len <n>', 'tokens of its answer', positive, 128)
    .option('--random-range-ratio <r>', 'both vary by this share up and down', share, 0)
    .option('--random-prefix-len <n>', 'tokens in front that prompts share', natural, 0)
    .option('--random-prefix-groups <n>', 'different such prefixes', positive, 1)
    .option('--sharegpt-output-len <n>', 'tokens of an answer, else as in the file', positive)
    .option('--tool-use-turns <n>', 'requests of a dialogue with tools', positive, 4)
    .option('--tool-use-tools <n>', 'functions that it offers', positive, 8)
    .option('--tool-use-result-len <n>', 'tokens of the result of a call', positive, 256);
}

function addReportFlags(command: Command): Command {
  return command
    .option('--goodput <metric:ms...>', 'goals, such as ttft:500 tpot:50 e2el:9000', goals)
    .option('--percentile-metrics <names>', 'by commas', metrics, ['ttft', 'tpot', 'itl', 'e2el'])
    .option('--metric-percentiles <numbers>', 'by commas', percentiles, [50, 90, 95, 99])
    .option('--save-result', 'write a JSON file and a plot to --result-dir')
    .option('--save-detailed', 'with the times of each request')
    .option('--result-dir <dir>', 'where it lies', '.')
    .option('--result-filename <name>', 'what it is called')
    .option('--output-file <file>', 'append the result to it as one line of JSON')
    .option('--plot <file>', 'write an SVG of the times there')
    .option('--label <text>', 'kept in the result');
}

function numberWhere(text: string, fits: (value: number) => boolean, expected: string): number {
  const value = Number(text);
  if (text.trim() !== '' && fits(value)) return value;
  throw new InvalidArgumentError(`Expected ${expected}.`);
}

const positive = (text: string): number =>
  numberWhere(text, (n) => Number.isSafeInteger(n) && n >= 1, 'an integer from 1');
const natural = (text: string): number =>
  numberWhere(text, (n) => Number.isSafeInteger(n) && n >= 0, 'an integer from 0');
const above0 = (text: string): number =>
  numberWhere(text, (n) => n > 0 && Number.isFinite(n), 'a number above 0');
const numberFrom0 = (text: string): number =>
  numberWhere(text, (n) => n >= 0 && Number.isFinite(n), 'a number from 0');
const share = (text: string): number =>
  numberWhere(text, (n) => n >= 0 && n < 1, 'a number from 0, below 1');
const rate = (text: string): number => (text === 'inf' ? Infinity : above0(text));

type Goals = Map<'ttft' | 'tpot' | 'e2el', number>;

function goals(text: string, previous: Goals = new Map()): Goals {
  const [, name, ms] = /^(ttft|tpot|e2el):(.+)$/.exec(text) ?? [];
  if (name === undefined || ms === undefined) {
    throw new InvalidArgumentError('Expected ttft:MS, tpot:MS or e2el:MS.');
  }
  return new Map([...previous, [name as 'ttft' | 'tpot' | 'e2el', above0(ms)]]);
}

function metrics(text: string): readonly MetricName[] {
  return text.split(',').map((name) => {
    const known = metricNames.find((one) => one === name.trim());
    if (known) return known;
    throw new InvalidArgumentError(`Expected names of ${metricNames.join(', ')}.`);
  });
}

function percentiles(text: string): readonly number[] {
  return text
    .split(',')
    .map((one) => numberWhere(one, (n) => n >= 0 && n <= 100, 'numbers from 0 to 100'));
}
