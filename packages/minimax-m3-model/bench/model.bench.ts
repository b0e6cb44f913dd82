// Prefill and decode of the whole model: checks the answers against the goldens, then times. Decode
// replays a captured graph, as the engine does; both include reading the logits back.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import type { Runtime } from '@altstream/cuda-runtime';
import { writeHashCheckpoint } from '@altstream/hash-checkpoint';
import { MiniMaxM3Model } from '../src/index.js';
import { argmax, Session } from '../test/makers/session.js';

interface Facts {
  readonly model: 'T128' | 'T128-mxfp8';
  readonly dtype: 'bfloat16' | 'float32';
}

const context = 880;
const variants = (['T128', 'T128-mxfp8'] as const).flatMap((model) =>
  (['bfloat16', 'float32'] as const).map((dtype): Facts => ({ model, dtype })),
);
const cases = variants.flatMap((facts) => [
  prefillCase(facts),
  ...[1, 8].map((batch) => decodeCase(facts, batch)),
]);

function prefillCase(facts: Facts): BenchCase {
  const { tokens } = readGolden(facts.model);
  return {
    case: { ...facts, what: 'prefill', tokens: tokens.length },
    tokens: tokens.length,
    prepare: async ({ device }) => {
      const { session, checkPrefill } = await useModel(device.runtime, facts);
      return {
        run: async () => {
          session.reset();
          await session.run([{ sequence: 0, tokens }]);
        },
        check: checkPrefill,
      };
    },
  };
}

function decodeCase(facts: Facts, batch: number): BenchCase {
  const golden = readGolden(facts.model);
  return {
    case: { ...facts, what: 'decode', tokens: batch, context },
    tokens: batch,
    prepare: async ({ device }) => {
      const { session } = await useModel(device.runtime, facts);
      session.reset();
      const sequences = Array.from({ length: batch }, (_, sequence) => sequence);
      const tokens = golden.tokens.slice(0, context);
      for (const sequence of sequences) await session.run([{ sequence, tokens }]);
      const { replay } = await session.capture(batch);
      const answers: number[][] = [];
      let position = context;
      const step = async () => {
        const token = golden.tokens[position] ?? 5;
        position += 1;
        return replay(sequences.map((sequence) => ({ sequence, tokens: [token] })));
      };
      return {
        run: async () => {
          const logits = await step();
          if (answers.length === 0) answers.push(...logits.map((rows) => rows.map(argmax)));
        },
        check: async () => {
          const expected = golden.argmax[context];
          const wrong = answers.findIndex(([answer]) => answer !== expected);
          if (answers.length === batch && wrong < 0) return;
          throw new Error(`sequence ${wrong} answers ${answers[wrong]}, expected ${expected}`);
        },
      };
    },
  };
}

interface Loaded {
  readonly key: string;
  readonly model: MiniMaxM3Model;
  readonly session: Session;
  readonly checkPrefill: () => Promise<void>;
}

let loaded: Loaded | undefined;

/** The model of a case; the one before it is freed, so that one at a time takes memory. */
async function useModel(runtime: Runtime, { model: name, dtype }: Facts): Promise<Loaded> {
  const key = `${name} ${dtype}`;
  if (loaded?.key === key) return loaded;
  loaded?.model.dispose();
  const directory = mkdtempSync(join(tmpdir(), 'model-bench-'));
  try {
    await writeHashCheckpoint({ model: 'T128', directory, mxfp8: name.endsWith('mxfp8') });
    const model = await MiniMaxM3Model.load({ runtime, directory, dtype });
    const session = new Session(model, 8, 1024);
    const least = dtype === 'float32' ? 0.995 : 0.93;
    const checkPrefill = async () => checkAgreement(session, readGolden(name), least);
    loaded = { key, model, session, checkPrefill };
    return loaded;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function checkAgreement(session: Session, golden: Golden, least: number): Promise<void> {
  session.reset();
  const [logits = []] = await session.run([{ sequence: 0, tokens: golden.tokens }]);
  const same = logits.filter((row, p) => argmax(row) === golden.argmax[p]).length / logits.length;
  if (!(same > least)) throw new Error(`${same} of the answers agree, expected above ${least}`);
}

interface Golden {
  readonly tokens: readonly number[];
  readonly argmax: readonly number[];
}

function readGolden(name: string): Golden {
  const file = new URL(`../test/fixtures/${name}.json`, import.meta.url);
  const { token_ids: tokens, argmax: answers } = JSON.parse(readFileSync(file, 'utf8'));
  return { tokens, argmax: answers };
}

const setting = { bench: 'model', from: import.meta.url, ceiling: readCeiling };
await runBench(setting, cases);
