// Draws docs/overlap-graph.svg and docs/overlap-timeline.svg: one decode step of a model with one
// dense and one MoE layer, captured with overlap and replayed on the CPU backend.
//   tsx --conditions=@altstream/source bench/overlap-pictures.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '@altstream/cuda-runtime';
import { hashConfig, hashTokens, writeHashCheckpoint } from '@altstream/hash-checkpoint';
import { MiniMaxM3Model } from '../src/index.js';
import { Session } from '../test/makers/session.js';

const batch = 4;
const directory = mkdtempSync(join(tmpdir(), 'overlap-'));
const docs = new URL('../docs/', import.meta.url);

/** Wide enough that a kernel's time is arithmetic, not its launch. */
function config(): Record<string, unknown> {
  const base = hashConfig('T128');
  const text = base['text_config'] as Record<string, unknown>;
  const sparse = text['sparse_attention_config'] as Record<string, unknown>;
  const flags = [0, 1];
  return {
    ...base,
    text_config: {
      ...text,
      hidden_size: 2048,
      intermediate_size: 1024,
      shared_intermediate_size: 3072,
      num_hidden_layers: 2,
      moe_layer_freq: flags,
      sparse_attention_config: {
        ...sparse,
        sparse_attention_freq: flags,
        sparse_disable_index_value: flags,
      },
    },
  };
}

const runtime = await open({ backend: 'cpu', isolated: true, cpu: { threads: 1 } });
try {
  await writeHashCheckpoint({ model: config(), directory, mxfp8: true });
  const model = await MiniMaxM3Model.load({ runtime, directory });
  const session = new Session(model, batch, 256);
  const sequences = Array.from({ length: batch }, (_, sequence) => sequence);
  const tokens = hashTokens(64, 512);
  for (const sequence of sequences) await session.run([{ sequence, tokens }]);
  const { replay, graph } = await session.capture(batch);
  const step = (token: number) =>
    replay(sequences.map((sequence) => ({ sequence, tokens: [token] })));
  await step(3);
  runtime.trace.start();
  await step(4);
  const recording = runtime.trace.stop();
  mkdirSync(docs, { recursive: true });
  writeFileSync(new URL('overlap-graph.svg', docs), graph.toSvg());
  writeFileSync(new URL('overlap-timeline.svg', docs), recording.toSvg());
  model.dispose();
} finally {
  await runtime.dispose();
  rmSync(directory, { recursive: true });
}
