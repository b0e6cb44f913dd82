// What the server itself costs for each token that it streams: 1,000 streams at once on a mock
// engine, so that no model computes. Counted is the processor time, user and system, of the whole
// server process (all threads: HTTP, engine loop, tokenizer, garbage collection) from before the
// first request is sent until the last stream ended, so requests' own costs are in it, divided by
// the tokens of all answers. The client is this process. Runs the built server, so build it first.
// Fails when a stream is not what it should be, or a token costs more than the target.
//
//   node --import tsx --conditions=@altstream/source apps/server/bench/overhead.bench.ts [--save]

import { availableParallelism } from 'node:os';
import { watchMachine } from './load/machine-load.js';
import { runStreams, type StreamResult } from './load/many-streams.js';
import { startWatched } from './load/watched-server.js';
import { saveRows } from './save-rows.js';

const streams = Number(process.env['STREAMS'] ?? 1000);
const tokens = Number(process.env['TOKENS'] ?? 256);
const decodeMs = 50;
const targetUs = 50;
const answer = Array.from({ length: 40 }, (_, n) => `Sentence ${n} says a little. `).join('');

interface Row {
  readonly case: { readonly route: string; readonly streams: number; readonly tokens: number };
  readonly right: boolean;
  readonly us?: number;
  readonly targetUs: number;
  readonly tokensPerSecond?: number;
  readonly serverCores?: number;
  readonly loopDelayMs?: object;
}

const machine = watchMachine();
let serverCpuMs = 0;
const rows = [
  await measure('/v1/chat/completions', (n) => ({
    messages: [{ role: 'user', content: `Stream ${n}, please.` }],
    chat_template_kwargs: { thinking_mode: 'disabled' },
  })),
  await measure('/v1/completions', (n) => ({ prompt: `Stream ${n} says so. ` })),
];
report();

async function measure(route: string, fieldsOf: (n: number) => object): Promise<Row> {
  const isChat = route.includes('chat');
  const mock = { decodeMs, pageTokens: 128, ...(isChat ? { answers: [answer] } : {}) };
  const server = await startWatched(
    [
      ...['--mock-engine', JSON.stringify(mock), '--max-num-seqs', String(streams)],
      ...['--max-num-batched-tokens', '8192', '--max-num-partial-prefills', '64'],
      ...['--log-level', 'warn', '--disable-log-requests'],
    ],
    { resolutionMs: 10 },
  );
  const bodies = Array.from({ length: streams }, (_, n) => ({
    model: 'mock',
    ...fieldsOf(n),
    ...{ stream: true, stream_options: { include_usage: true } },
    ...{ max_tokens: tokens, ignore_eos: true, temperature: 0 },
  }));
  await runStreams(`${server.url}${route}`, bodies.slice(0, 20)); // what is compiled first
  const before = await server.read({ collectGarbage: true, reset: true });
  const results = await runStreams(`${server.url}${route}`, bodies);
  const after = await server.read();
  serverCpuMs += after.cpuMs;
  await server.stop();
  const right = results.every((result, n) =>
    isRight(result, isChat ? answer : `Stream ${n} says so. `),
  );
  const all = streams * tokens;
  const cpuMs = after.cpuMs - before.cpuMs;
  const us = Math.round((cpuMs * 10_000) / all) / 10;
  const seconds = (after.atMs - before.atMs) / 1000;
  return {
    case: { route, streams, tokens },
    right: right && us <= targetUs,
    us,
    targetUs,
    tokensPerSecond: Math.round(all / seconds),
    serverCores: Math.round(cpuMs / seconds / 10) / 100,
    loopDelayMs: after.loopDelayMs,
  };
}

/** The text of the script, as far as it goes, over and over; and exactly one end. */
function isRight(result: StreamResult, script: string): boolean {
  const { status, text, completionTokens, finishReasons, isWhole } = result;
  const expected = script.repeat(Math.ceil(text.length / script.length)).slice(0, text.length);
  const isText = text.length > tokens / 2 && text === expected;
  const hasEnd = isWhole && finishReasons.join() === 'length';
  return status === 200 && completionTokens === tokens && isText && hasEnd;
}

function report(): void {
  for (const { case: one, right, us, tokensPerSecond, serverCores, loopDelayMs } of rows) {
    const times = `${us} µs a token (target ${targetUs}), ${tokensPerSecond} tokens/s, ${serverCores} cores`;
    process.stdout.write(
      `${one.route.padEnd(24)} ${times} ${JSON.stringify(loopDelayMs)} ${right ? '' : 'WRONG, OR TOO DEAR'}\n`,
    );
  }
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
  else if (process.argv.includes('--save')) {
    saveRows('overhead', rows, { ...machine(serverCpuMs), cores: availableParallelism() });
  }
}
