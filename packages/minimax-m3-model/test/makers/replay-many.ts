// A process that may hang: replays a graph of many MoE blocks on two streams and tells how far it
//   is.
//   node --import tsx replay-many.ts '{"backend":"cpu","tokens":48,…}'
import { open, Workspace } from '@altstream/cuda-runtime';
import type { ModelBatch } from '../../src/index.js';
import { RandomFill } from '../../src/loader/dummy/random-fill.js';
import { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import { ModelStep } from '../../src/model-step.js';

/** What to replay. */
export interface ReplayMany {
  readonly backend: 'cpu' | 'cuda';
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly tensorParallel: { readonly rank: number; readonly size: number };
  readonly tokens: number;
  readonly replays: number;
  /** Replays between two waits, and so between two signs of life. */
  readonly waitEvery: number;
  /** Limits of programmatic launches to compare; the first one is the control. */
  readonly pdlLimits: readonly number[];
}

const job = JSON.parse(process.argv[2] ?? '') as ReplayMany;
const tell = (line: string) => void process.stdout.write(`${line}\n`);

const runtime = await open({ backend: job.backend, maxPending: 16_384 });
const { overrides, tensorParallel, tokens } = job;
const model = await MiniMaxM3Model.load({
  runtime,
  directory: 'MiniMax-M3',
  loadFormat: 'dummy',
  overrides,
  ...(tensorParallel.size > 1 && { tensorParallel }),
});
const stream = model.device.createStream({ name: 'main' });
const hidden = stream.tensor([tokens, model.config.hidden], 'bf16', 'hidden');
const out = stream.tensor(hidden.shape, 'bf16', 'out');
const ids = stream.tensor([tokens], 'i32', 'ids');
stream.fill(ids, 0);
const random = new RandomFill(1, 2 ** 22);
await random.fill('hidden', 4, hidden, stream);
tell(`loaded ${model.moeBlocks.size} blocks`);
let control: string | undefined;
for (const limit of job.pdlLimits) {
  const result = await replay(limit);
  control ??= result;
  tell(`limit ${limit} ${result === control ? 'equal' : 'DIFFERENT'}`);
}
random.dispose();
model.dispose();
await runtime.dispose();
tell('done');

/** All replays under one limit; the bytes of the last block's sum. */
async function replay(limit: number): Promise<string> {
  const variant = await model.variant({ pdl: { mode: 'on', maxTokens: limit } });
  const workspace = new Workspace(model.device, { label: 'stress' });
  const cache = model.createCache(0);
  const graph = model.device.capture(
    () => {
      for (const block of variant.moeBlocks.values()) {
        workspace.reset();
        const step = new ModelStep(emptyBatch(), cache, { stream, workspace });
        block.forward(hidden, step, out);
      }
    },
    { stream },
  );
  const programmatic = graph.edges.filter(({ type }) => type === 'programmatic').length;
  tell(`captured ${graph.nodes.length} nodes, ${programmatic} programmatic edges`);
  const exec = await graph.instantiate();
  for (let done = 1; done <= job.replays; done++) {
    exec.launch(stream);
    if (done % job.waitEvery === 0 || done === job.replays) {
      await stream.synchronize();
      tell(`replay ${done}`);
    }
  }
  const bytes = new Uint8Array(out.bytes);
  const copy = stream.tensor([out.bytes], 'u8');
  stream.copy(copy, out);
  await stream.read(copy, bytes);
  for (const one of [exec, graph, copy, cache, workspace]) one.dispose();
  return Buffer.from(bytes).toString('base64');
}

/** The blocks ask for the number of tokens only. */
function emptyBatch(): ModelBatch {
  const same = { tokenIds: ids, positions: ids, sequenceIds: ids };
  return { ...same, slots: ids, pageTable: ids, rows: ids };
}
