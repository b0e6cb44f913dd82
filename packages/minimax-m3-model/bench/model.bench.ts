// Prefill and decode of the whole model: checks the answers against the goldens, then times. Decode
// replays a captured graph, as the engine does. `--save` writes bench/results, `--threads N` limits
// the CPU backend.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Device, open } from '@altstream/cuda-runtime';
import { writeHashCheckpoint } from '@altstream/hash-checkpoint';
import { MiniMaxM3Model } from '../src/index.js';
import { argmax, Session } from '../test/makers/session.js';

interface Row {
  readonly case: Readonly<Record<string, string | number>>;
  readonly us?: number;
  readonly p95Us?: number;
  readonly tokensPerSecond?: number;
  readonly right: boolean;
}

const runs = 15;
const models = ['T128', 'T128-mxfp8'] as const;
const dtypes = ['bfloat16', 'float32'] as const;

const rows: Row[] = [];
let device = '';
for (const name of models)
  for (const dtype of dtypes) rows.push(...(await benchModel(name, dtype)));
report(rows);

async function benchModel(name: string, dtype: 'bfloat16' | 'float32'): Promise<Row[]> {
  const golden = readGolden(name);
  const directory = mkdtempSync(join(tmpdir(), 'model-bench-'));
  const threads = Number(argument('--threads') ?? 0);
  const runtime = await open({
    backend: 'cpu',
    isolated: true,
    ...(threads && { cpu: { threads } }),
  });
  try {
    await writeHashCheckpoint({ model: 'T128', directory, mxfp8: name.endsWith('mxfp8') });
    const model = await MiniMaxM3Model.load({ runtime, directory, dtype });
    device = deviceName(model.device);
    const facts = { model: name, dtype };
    const tokens = golden.token_ids;
    const session = new Session(model, 8, 1024);
    const agreed = async () => {
      session.reset();
      const [logits = []] = await session.run([{ sequence: 0, tokens }]);
      return logits.filter((row, p) => argmax(row) === golden.argmax[p]).length / logits.length;
    };
    const right = (await agreed()) > (dtype === 'float32' ? 0.995 : 0.93);
    const prefill = await timed(right, tokens.length, async () => {
      session.reset();
      await session.run([{ sequence: 0, tokens }]);
    });
    const result: Row[] = [
      { case: { ...facts, what: 'prefill', tokens: tokens.length }, ...prefill },
    ];
    for (const batch of [1, 8]) {
      session.reset();
      const sequences = Array.from({ length: batch }, (_, sequence) => sequence);
      for (const sequence of sequences)
        await session.run([{ sequence, tokens: tokens.slice(0, 880) }]);
      const { replay } = await session.capture(batch);
      let position = 880;
      const step = async () => {
        const token = tokens[position++] ?? 5;
        return replay(sequences.map((sequence) => ({ sequence, tokens: [token] })));
      };
      const [[first] = []] = await step();
      const isRight = right && argmax(first ?? []) === golden.argmax[880];
      const decode = await timed(isRight, batch, step);
      result.push({ case: { ...facts, what: 'decode', tokens: batch, context: 880 }, ...decode });
    }
    model.dispose();
    return result;
  } finally {
    await runtime.dispose();
    rmSync(directory, { recursive: true });
  }
}

async function timed(right: boolean, tokens: number, run: () => Promise<unknown>) {
  if (!right) return { right };
  const samples: number[] = [];
  for (let i = 0; i < runs; i++) {
    const started = performance.now();
    await run();
    samples.push((performance.now() - started) * 1000);
  }
  samples.sort((a, b) => a - b);
  const us = samples[runs >> 1] ?? Number.NaN;
  const p95Us = samples[Math.floor((runs - 1) * 0.95)] ?? Number.NaN;
  return { us, p95Us, tokensPerSecond: (tokens / us) * 1e6, right };
}

function report(all: readonly Row[]): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
  const lines = all.map(({ case: facts, us, tokensPerSecond, right }) => {
    const what = Object.entries(facts).map(([key, value]) => `${key}=${value}`);
    const time = us === undefined ? '–' : `${us.toFixed(0)} µs`;
    const rate = tokensPerSecond === undefined ? '–' : `${tokensPerSecond.toFixed(0)} tokens/s`;
    return `${what.join(' ').padEnd(66)} ${time.padStart(12)} ${rate.padStart(16)}  ${right ? 'yes' : 'NO'}`;
  });
  process.stdout.write(`model · ${device} · commit ${commit}\n${lines.join('\n')}\n`);
  if (all.some(({ right }) => !right)) process.exitCode = 1;
  if (!process.argv.includes('--save')) return;
  const stem = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const file = new URL(`results/${stem}-model.json`, import.meta.url);
  const given = process.argv.slice(2).join(' ');
  const command = `tsx --conditions=@altstream/source bench/model.bench.ts ${given}`;
  const head = { bench: 'model', device, commit, command, date: new Date().toISOString() };
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...head, rows: all }, null, 1)}\n`);
}

function deviceName({ limits }: Device): string {
  return `${cpus()[0]?.model ?? 'cpu'} ${limits.cpuLevel} x${limits.processors}`;
}

function readGolden(name: string): { token_ids: number[]; argmax: number[] } {
  const file = new URL(`../test/fixtures/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}
