import { arrivalTimes } from '../bench/arrivals.js';
import type { BenchPrompt, BenchTokenizer } from '../bench/bench-prompt.js';
import { SeededRandom } from '../bench/seeded-random.js';
import { longLength, longPrompts } from '../bench/workloads/long-prompts.js';
import { randomPrompts, randomText } from '../bench/workloads/random-prompts.js';
import { replayedRequests } from '../bench/workloads/replay-prompts.js';
import { shareGptPrompts } from '../bench/workloads/sharegpt-prompts.js';
import { toolUseDialogues } from '../bench/workloads/tool-use-dialogues.js';
import { contextOf, countTokens } from '../client/served-models.js';
import type { ServerAddress } from '../client/server-address.js';
import { ExitError } from '../errors/index.js';
import type { BenchFlags } from './bench-flags.js';

/** What is sent and when. */
export interface Workload {
  readonly prompts: readonly BenchPrompt[];
  /** When each one comes, in milliseconds after the start. */
  readonly arrivalsMs: readonly number[];
  /** Sent before the run where those of the run would leave something behind that helps it. */
  readonly warmupPrompts?: readonly BenchPrompt[];
  /** What the result tells of it. */
  readonly setting?: Readonly<Record<string, unknown>>;
}

/** Whom it is for. */
export interface WorkloadServer {
  readonly tokenizer: BenchTokenizer | undefined;
  readonly server: ServerAddress;
  readonly model: string;
}

type Prompts = Omit<Workload, 'arrivalsMs'>;

const usualPrompts = 100;
const usualInput = 1024;
const warmupTokens = 16;

/**
 * The requests that the flags mean. A trace has times of its own; a rate that is asked for takes
 * their place.
 *
 * @throws ExitError (usage)
 */
export async function workloadOf(flags: BenchFlags, server: WorkloadServer): Promise<Workload> {
  const { requestRate: rate, burstiness, seed } = flags;
  const random = new SeededRandom(seed);
  const arrivalsOf = (count: number): number[] => arrivalTimes(count, { rate, burstiness }, random);
  if (flags.datasetName === 'replay') {
    const options = { path: datasetOf(flags), count: flags.numPrompts ?? usualPrompts, seed };
    const { prompts, arrivalsMs } = await replayedRequests(options, server.tokenizer);
    return { prompts, arrivalsMs: rate === Infinity ? arrivalsMs : arrivalsOf(prompts.length) };
  }
  const made = await promptsOf(flags, random, server);
  return { ...made, arrivalsMs: arrivalsOf(made.prompts.length) };
}

function datasetOf({ datasetName, datasetPath }: BenchFlags): string {
  if (datasetPath !== undefined) return datasetPath;
  throw new ExitError('usage', `--dataset-name ${datasetName} needs --dataset-path FILE`);
}

async function promptsOf(
  flags: BenchFlags,
  random: SeededRandom,
  server: WorkloadServer,
): Promise<Prompts> {
  const { datasetName, numPrompts: count = usualPrompts, sharegptOutputLen: outputTokens } = flags;
  const { tokenizer } = server;
  if (datasetName === 'long-1m') return longWorkload(flags, random, server);
  if (datasetName === 'tool-use') return toolUseWorkload(flags, random, tokenizer);
  if (datasetName === 'sharegpt') {
    const options = { path: datasetOf(flags), count, outputTokens };
    return { prompts: await shareGptPrompts(options, random, tokenizer) };
  }
  const sizes = {
    inputTokens: flags.randomInputLen ?? usualInput,
    outputTokens: flags.randomOutputLen,
    rangeRatio: flags.randomRangeRatio,
    prefixTokens: flags.randomPrefixLen,
    prefixGroups: flags.randomPrefixGroups,
  };
  return { prompts: randomPrompts(count, sizes, random, tokenizer) };
}

function toolUseWorkload(
  flags: BenchFlags,
  random: SeededRandom,
  tokenizer: BenchTokenizer | undefined,
): Prompts {
  const { toolUseTurns: turns, toolUseTools: tools, numPrompts: count = usualPrompts } = flags;
  if (flags.backend !== 'openai-chat') {
    throw new ExitError('usage', '--dataset-name tool-use needs --backend openai-chat');
  }
  const sizes = {
    turns,
    tools,
    systemTokens: flags.randomPrefixLen,
    questionTokens: flags.randomInputLen ?? usualInput,
    resultTokens: flags.toolUseResultLen,
    outputTokens: flags.randomOutputLen,
    rangeRatio: flags.randomRangeRatio,
  };
  const prompts = toolUseDialogues(count, sizes, random, tokenizer);
  return { prompts, warmupPrompts: [warmupDialogue(flags)], setting: { turns, tools } };
}

async function longWorkload(
  flags: BenchFlags,
  random: SeededRandom,
  { tokenizer, server, model }: WorkloadServer,
): Promise<Prompts> {
  const sizes = { inputTokens: flags.randomInputLen, outputTokens: flags.randomOutputLen };
  const contextTokens = await contextOf(server, model);
  const tokens = longLength(sizes, { contextTokens });
  const facts = { contextTokens, countTokens: (text: string) => countTokens(server, model, text) };
  process.stderr.write(`long-1m: prompts of ${tokens} tokens\n`);
  const options = { random, tokenizer, server: facts };
  const prompts = await longPrompts(flags.numPrompts ?? 1, tokens, sizes, options);
  return { prompts, warmupPrompts: [warmupPrompt(flags)], setting: { input_len: tokens } };
}

/** With a tool, since requests of the run may have to call one. */
function warmupDialogue(flags: BenchFlags): BenchPrompt {
  const prompt = warmupPrompt(flags);
  const tool = { name: 'warm_up', parameters: { type: 'object', properties: {} } };
  const messages = [{ role: 'user', content: prompt.text }];
  return { ...prompt, chat: { messages, tools: [{ type: 'function', function: tool }] } };
}

/** Words that no prompt of the run begins with. */
function warmupPrompt({ seed }: BenchFlags): BenchPrompt {
  const text = `warm-up ${randomText(warmupTokens, new SeededRandom(seed + 1))}`;
  return { text, outputTokens: warmupTokens };
}
