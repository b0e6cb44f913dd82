// How soon the demo model answers, and how fast: a server process and `altstream chat`, each from
// the start of its process to the end of its first answer, as on a machine where everything is
// built and the files were read before. Runs the built server, so build it first. Fails when an
// answer is empty, or later than the target.
//
//   node --import tsx --conditions=@altstream/source apps/server/bench/demo.bench.ts [--save]

import { availableParallelism, loadavg } from 'node:os';
import OpenAI from 'openai';
import { altstream } from '../test/makers/altstream.js';
import {
  demoFolder,
  demoIsLeftOut,
  leftOutBecause,
  readDemoSuite,
} from '../test/makers/demo-model.js';
import { startServing } from '../test/makers/serving.js';
import { saveRows } from './save-rows.js';

interface Row {
  readonly case: { readonly what: string };
  readonly right: boolean;
  /** Median. */
  readonly us?: number;
  readonly tokensPerSecond?: number;
  readonly targetUs?: number;
}

const starts = 5;
const targetMs = 5000;
const decodeTokens = 256;
const question = 'Hello! Who are you?';

interface Start {
  readonly readyMs: number;
  readonly firstTokenMs: number;
  readonly answerMs: number;
  readonly chatMs: number;
  readonly chatSpeed: number;
  readonly isRight: boolean;
}

if (demoIsLeftOut) {
  process.stdout.write(`demo: left out${leftOutBecause}\n`);
  process.exit();
}
process.env['ALTSTREAM_DEVICE'] = 'cpu'; // what the rows are named after
const load = loadavg()[0] ?? Number.NaN;
await start(); // files are read for the first time, and not counted
const all: Start[] = [];
while (all.length < starts) all.push(await start());
const isRight = all.every((one) => one.isRight);
const time = (what: string, ms: number, targetUs?: number): Row => ({
  case: { what },
  right: isRight && (targetUs === undefined || ms * 1000 <= targetUs),
  us: Math.round(ms * 1000),
  ...(targetUs === undefined ? {} : { targetUs }),
});
const target = targetMs * 1000;
const rows: Row[] = [
  time('serve: ready', median(all.map(({ readyMs }) => readyMs))),
  time('serve: first token', median(all.map(({ firstTokenMs }) => firstTokenMs))),
  time('serve: first answer', median(all.map(({ answerMs }) => answerMs)), target),
  time('chat: first answer, process ended', median(all.map(({ chatMs }) => chatMs)), target),
  {
    case: { what: 'chat: decode, as printed' },
    right: isRight,
    tokensPerSecond: Math.round(median(all.map(({ chatSpeed }) => chatSpeed))),
  },
  ...(await speeds()),
];
report();

/** One server and one chat, each from the start of its process. */
async function start(): Promise<Start> {
  const began = performance.now();
  const server = await startServing('--model', demoFolder, '--log-level', 'warn');
  const readyMs = performance.now() - began;
  const stream = await client(server.url).chat.completions.create({
    model: await modelOf(server.url),
    messages: [{ role: 'user', content: question }],
    max_tokens: 200,
    stream: true,
  });
  let firstTokenMs = Number.NaN;
  let text = '';
  for await (const { choices } of stream) {
    const delta = choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
    const piece = `${delta?.reasoning_content ?? ''}${delta?.content ?? ''}`;
    if (piece !== '' && text === '') firstTokenMs = performance.now() - began;
    text += piece;
  }
  const answerMs = performance.now() - began;
  await server.stop();
  const chatBegan = performance.now();
  const chat = await altstream('chat', demoFolder, '--message', question, '--max-tokens', '200');
  const chatMs = performance.now() - chatBegan;
  const chatSpeed = Number(/ ([\d.]+) tokens\/s/.exec(chat.stderr)?.[1]);
  const isRight = text.trim() !== '' && chat.code === 0 && chat.stdout.trim() !== '';
  return { readyMs, firstTokenMs, answerMs, chatMs, chatSpeed, isRight };
}

/** A long answer, and the prompt of a needle test, on a server that is warm. */
async function speeds(): Promise<Row[]> {
  // Every prompt is sent several times, and each time it is its computing that is timed.
  const whole = '--no-enable-prefix-caching';
  const server = await startServing('--model', demoFolder, '--log-level', 'warn', whole);
  const api = client(server.url);
  const model = await modelOf(server.url);
  const timed = async (content: string, tokens: number) => {
    const began = performance.now();
    const messages = [{ role: 'user' as const, content }];
    const body = { model, messages, temperature: 0, max_tokens: tokens };
    const { usage } = await api.chat.completions.create({ ...body, ...{ ignore_eos: true } });
    const seconds = (performance.now() - began) / 1000;
    return { seconds, prompt: usage?.prompt_tokens ?? 0, answer: usage?.completion_tokens ?? 0 };
  };
  const texts = readDemoSuite()
    .filter(({ skill }) => skill === 'needle')
    .map(({ messages }) => messages[0]?.content ?? '')
    .sort((a, b) => a.length - b.length);
  const needle = texts[Math.floor(texts.length / 2)] ?? '';
  const prefills = [await timed(needle, 1), await timed(needle, 1), await timed(needle, 1)];
  const short = [await timed(question, 1), await timed(question, 1), await timed(question, 1)];
  const long: typeof short = [];
  while (long.length < 3) long.push(await timed(question, decodeTokens));
  await server.stop();
  const secondsOf = (runs: typeof short) => median(runs.map(({ seconds }) => seconds));
  const decode = secondsOf(long) - secondsOf(short);
  const promptTokens = prefills[0]?.prompt ?? 0;
  return [
    {
      case: { what: `decode, ${decodeTokens} tokens` },
      right: long.every(({ answer }) => answer === decodeTokens),
      us: Math.round((decode * 1e6) / (decodeTokens - 1)),
      tokensPerSecond: Math.round((decodeTokens - 1) / decode),
    },
    {
      case: { what: `prompt of ${promptTokens} tokens` },
      right: promptTokens > 0,
      us: Math.round(secondsOf(prefills) * 1e6),
      tokensPerSecond: Math.round(promptTokens / secondsOf(prefills)),
    },
  ];
}

function client(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
}

async function modelOf(url: string): Promise<string> {
  const { data } = await client(url).models.list();
  return data[0]?.id ?? '';
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function report(): void {
  for (const { case: one, us, tokensPerSecond, right } of rows) {
    const took = us === undefined ? '' : `${(us / 1000).toFixed(1)} ms`;
    const speed = tokensPerSecond === undefined ? '' : `${tokensPerSecond} tokens/s`;
    const verdict = right ? '' : 'WRONG, OR TOO LATE';
    process.stdout.write(
      `${one.what.padEnd(36)} ${took.padStart(12)} ${speed.padStart(16)} ${verdict}\n`,
    );
  }
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
  else if (process.argv.includes('--save')) {
    saveRows('demo', rows, { load, cores: availableParallelism(), starts });
  }
}
