// `pnpm bench moe-block`: the whole MoE block of MiniMax-M3 as a graph — hidden states behind the
// norm in; router, top-k, permute, routed experts, shared expert, sum — with overlap off, on, and
// the shared expert fused, beside PyTorch's graphs of the same block in bf16
// (bench/peers/pytorch_moe_block.py; a GPU whose host has a python3 with torch). Shapes: experts
// whole (`tp1`), and what one of four ranks holds (`tp4`). Replays rotate over layers and inputs,
// so that weights come from memory. The floor is the time of the touched MXFP8 weights, with scales
// and the shared expert, at the copy bandwidth of this run. A CPU runs small sizes without a peer,
// as a test of this file. Flags: bench/moe-block/options.ts (`--tokens=1,4` through pnpm).
import { fileURLToPath } from 'node:url';
import {
  type BenchRow,
  measureCeiling,
  type PeerTimes,
  report,
  runOptions,
  runPeer,
  watchMachine,
} from '@altstream/bench';
import { open, type Runtime } from '@altstream/cuda-runtime';
import { RandomFill } from '../src/loader/dummy/random-fill.js';
import { loadBlocks } from './moe-block/block-graphs.js';
import { type BlockMode, measureTokens } from './moe-block/measure.js';
import { type BlockOptions, type BlockShape, blockOptions } from './moe-block/options.js';
import { BlockReference } from './moe-block/reference.js';
import { harnessArguments } from './overlap/options.js';

const script = fileURLToPath(new URL('peers/pytorch_moe_block.py', import.meta.url));
const patternBytes = 2 ** 24;
const decisions = {
  off: { overlap: 'off', sharedExpert: 'separate' },
  on: { overlap: 'capture', sharedExpert: 'separate' },
  fused: { overlap: 'capture', sharedExpert: 'fused' },
} as const;

const given = process.argv.slice(2);
const harness = runOptions(harnessArguments(given));
const machine = watchMachine();
const tell = (text: string) => void process.stdout.write(`${text}\n`);
const runtime = await open(harness.open);
try {
  const options = blockOptions(given, runtime);
  const stream = runtime.device().createStream({ name: 'main' });
  const { name, tbps } = await measureCeiling(stream);
  stream.dispose();
  const rows: BenchRow[] = [];
  const peers: Record<string, PeerTimes> = {};
  for (const shape of options.shapes) {
    // Before our weights, which would leave it too little memory.
    const peer = peerOf(runtime, shape, options);
    peers[shape.name] = peer;
    tell(`${shape.name}, experts ${shape.width} wide; PyTorch: ${peer.status}`);
    rows.push(...(await measureShape(shape, options, { peer, tbps })));
  }
  const { save, out } = harness;
  const facts = { bench: 'moe-block', from: import.meta.url, runtime, ceilings: { [name]: tbps } };
  report({ ...facts, rows, setting: { ...options, peers }, machine: machine(), save, out });
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
} finally {
  await runtime.dispose();
}

function peerOf({ backend }: Runtime, shape: BlockShape, options: BlockOptions): PeerTimes {
  if (backend !== 'cuda') return { status: 'not compared: it needs a GPU', us: {} };
  if (!options.peers) return { status: 'not compared: --no-peers', us: {} };
  const { width, hidden, experts } = shape;
  const { layers, inputs: slots, replays } = options;
  const sizes = Object.entries({ width, hidden, experts, layers, slots, replays });
  const flags = sizes.flatMap(([flag, size]) => [`--${flag}`, String(size)]);
  return runPeer('python3', [script, ...flags, ...options.tokens.map(String)]);
}

async function measureShape(
  shape: BlockShape,
  options: BlockOptions,
  { peer, tbps }: { readonly peer: PeerTimes; readonly tbps: number },
): Promise<BenchRow[]> {
  const model = await loadBlocks(runtime, shape, options);
  tell(`${model.layers.length} layers, ${(model.report.deviceBytes / 2 ** 30).toFixed(2)} GiB`);
  const models = new Map<BlockMode, typeof model>();
  for (const mode of ['off', 'on', 'fused'] as const) {
    models.set(mode, await model.variant(decisions[mode]));
  }
  const stream = model.device.createStream({ name: 'main' });
  const cache = model.createCache(0);
  const reference = new BlockReference(model.config, options.seed, stream);
  const random = new RandomFill(options.seed, patternBytes);
  const subject = { shape, models, reference, stream, cache, random, options, peer, tbps };
  const rows: BenchRow[] = [];
  for (const tokens of options.tokens) rows.push(...(await measureTokens(subject, tokens)));
  await reference.close();
  random.dispose();
  cache.dispose();
  stream.dispose();
  model.dispose();
  return rows;
}
