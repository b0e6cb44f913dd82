// One shape and number of tokens: the block under every mode, checked, then timed in turns.
import type { BenchRow, PeerTimes } from '@altstream/bench';
import { type GraphExec, type Stream, type Tensor, Workspace } from '@altstream/cuda-runtime';
import { download } from '@altstream/cuda-runtime/testing';
import type { MiniMaxM3Model } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import type { RandomFill } from '../../src/loader/dummy/random-fill.js';
import { faultOfEqual, faultOfRelative } from '../overlap/faults.js';
import { type Times, timeInTurns } from '../overlap/turns.js';
import {
  type BlockInputs,
  type BlockPlace,
  captureBlocks,
  makeInputs,
  rotating,
  runBlock,
} from './block-graphs.js';
import type { BlockOptions, BlockShape } from './options.js';
import type { BlockReference } from './reference.js';

/** How the shared expert runs. */
export type BlockMode = 'off' | 'on' | 'fused';

/** Rows compared between modes; the last ones, as many at most. */
const mostCompared = 256;
/** Columns compared with float64. */
const referenceColumns = 64;
/** Up to here the block must beat PyTorch's graphs. */
const targetTokens = 256;

/** The blocks of one shape and all that measuring them takes. */
export interface BlockSubject {
  readonly shape: BlockShape;
  /** Over the same weights; the first one is `off`. */
  readonly models: ReadonlyMap<BlockMode, MiniMaxM3Model>;
  readonly reference: BlockReference;
  readonly stream: Stream;
  readonly cache: KvCache;
  readonly random: RandomFill;
  readonly options: BlockOptions;
  readonly peer: PeerTimes;
  /** TB/s of copies. */
  readonly tbps: number;
}

/** One row a mode. */
export async function measureTokens(subject: BlockSubject, tokens: number): Promise<BenchRow[]> {
  const { models, stream, cache, random, options } = subject;
  const serial = models.get('off');
  if (!serial) throw new Error('without `off` there is nothing to compare with');
  const inputs = await makeInputs(serial, tokens, options.inputs, subject);
  const workspace = new Workspace(stream.device, { label: 'moe-block' });
  const place = { stream, workspace, cache, random };
  const { outputs: eager, experts, fault } = await runEagerly(subject, serial, inputs, place);
  // Every mode is compared with the eager run, so all are as wrong as that.
  const faults = new Map([...(fault ? models.keys() : [])].map((mode) => [mode, `${fault}`]));
  const graphs = new Map<BlockMode, GraphExec[]>();
  for (const [mode, model] of models) {
    const own = await captureBlocks(model, inputs, place);
    graphs.set(mode, own);
    for (const [slot, graph] of own.entries()) {
      graph.launch(stream);
      const values = await lastRows(stream, inputs.out);
      const wanted = eager[slot] ?? new Float32Array();
      const wrong =
        mode === 'fused' ? faultOfRelative(values, wanted) : faultOfEqual(values, wanted);
      if (wrong) faults.set(mode, faults.get(mode) ?? `input ${slot}: ${wrong}`);
    }
  }
  const right = [...graphs].filter(([mode]) => !faults.has(mode));
  const contenders = right.map(([name, own]) => ({ name, graph: rotating(own) }));
  const timing = { steps: options.replays, begin: () => undefined };
  const times = await timeInTurns(contenders, stream, timing);
  for (const graph of [...graphs.values()].flat()) graph.dispose();
  await stream.synchronize();
  workspace.dispose();
  inputs.dispose();
  const facts = { tokens, experts, off: times.get('off') };
  return [...models.keys()].map((mode) => {
    const fault = faults.get(mode);
    const row = rowOf(subject, mode, { ...facts, times: fault ? undefined : times.get(mode) });
    if (fault) process.stderr.write(`${JSON.stringify(row.case)}: ${fault}\n`);
    return row;
  });
}

/** Last rows of every slot, experts touched on average, and what is wrong with the last token. */
async function runEagerly(
  { reference }: BlockSubject,
  model: MiniMaxM3Model,
  inputs: BlockInputs,
  place: BlockPlace,
) {
  const { stream } = place;
  const outputs: Float32Array[] = [];
  let touched = 0;
  let fault: string | undefined;
  for (const [slot, { hidden, layer }] of inputs.slots.entries()) {
    const kept: Tensor[] = [];
    const keep = (tensor: Tensor) => {
      const copy = stream.tensor(tensor.shape, tensor.dtype, 'bench.kept');
      stream.copy(copy, tensor);
      kept.push(copy);
    };
    const router = (_: number, ids: Tensor, weights: Tensor) => [ids, weights].forEach(keep);
    runBlock(model, inputs, slot, place, { router });
    const [ids = new Float32Array(), weights = new Float32Array()] = await Promise.all(
      kept.map(async (tensor) => (await download(stream, tensor)) as Int32Array | Float32Array),
    );
    for (const tensor of kept) tensor.dispose();
    const values = await lastRows(stream, inputs.out);
    outputs.push(values);
    touched += new Set(ids).size / inputs.slots.length;
    if (slot > 0) continue;
    const slots = ids.length / inputs.tokens;
    const x = await download(stream, hidden.slice(0, inputs.tokens - 1, inputs.tokens));
    const output = values.subarray(-x.length);
    const columns = Array.from({ length: referenceColumns }, (_, i) =>
      Math.floor((i * x.length) / referenceColumns),
    );
    const token = { ids: ids.slice(-slots), weights: weights.slice(-slots), output };
    fault = await reference.faultOf(layer, x as Float32Array, token, columns);
  }
  return { outputs, experts: touched, fault };
}

async function lastRows(stream: Stream, out: Tensor): Promise<Float32Array> {
  const rows = out.shape[0] ?? 0;
  const last = out.slice(0, Math.max(0, rows - mostCompared), rows);
  return (await download(stream, last)) as Float32Array;
}

interface RowFacts {
  readonly tokens: number;
  readonly experts: number;
  readonly times: Times | undefined;
  readonly off: Times | undefined;
}

function rowOf(
  { shape, tbps, peer, options }: BlockSubject,
  mode: BlockMode,
  { tokens, experts, times, off }: RowFacts,
): BenchRow {
  const { name, hidden, width } = shape;
  const what = { shape: name, width, tokens, mode, experts: Number(experts.toFixed(1)) };
  if (!times) return { case: what, right: false };
  const { us, p95Us, samples } = times;
  // The touched experts and the shared one, elements and scales.
  const bytes = 3 * hidden * width * (experts + 1) * (33 / 32);
  const peers = Object.entries({ serial: 'PyTorch', streams: 'PyTorch 2' }).flatMap(
    ([key, title]) => {
      const time = peer.us[`${key}:${tokens}`];
      return time === undefined ? [] : [[title, time] as const];
    },
  );
  const ofPeer = peers.length > 0 && us / Math.min(...peers.map(([, time]) => time));
  const isHeld = mode === 'on' && tokens <= targetTokens && options.peers;
  const target = { what: "of PyTorch's faster graph", value: Number(ofPeer), most: 1 };
  return {
    case: what,
    us,
    p95Us,
    samples,
    floorUs: bytes / tbps / 1e6,
    gbps: bytes / us / 1e3,
    ...(off && { savedPercent: (1 - us / off.us) * 100 }),
    ...(ofPeer !== false && { peers: Object.fromEntries(peers), ofPeer }),
    ...(ofPeer !== false && isHeld && { target }),
    right: true,
  };
}
