import { type BenchCase, runBench } from '@altstream/bench';
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { download, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { embedding, loadDenseKernels } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { referenceEmbedding } from '../test/reference/embedding.js';

const rows = 2048;
const hidden = 6144;
const sizes = [1, 32, 512, 2048];
const patternLength = 65_521; // prime, so that rows differ

let table: { readonly host: Float32Array; readonly tensor: Tensor } | undefined;

/** A pattern repeated, made once: tens of millions of random numbers take too long. */
function placeTable(stream: Stream) {
  if (table) return table;
  const pattern = roundTo(seededRandom(1).floats(patternLength), 'bf16');
  const host = new Float32Array(rows * hidden);
  for (let at = 0; at < host.length; at += patternLength) {
    host.set(pattern.subarray(0, host.length - at), at);
  }
  table = { host, tensor: upload(stream, host, [rows, hidden], 'bf16') };
  return table;
}

const cases = (['bf16', 'f32'] as const).flatMap((outDType) =>
  sizes.map((tokens) => makeCase(tokens, outDType)),
);

function makeCase(tokens: number, outDType: 'bf16' | 'f32'): BenchCase {
  return {
    case: { tokens, hidden, dtype: 'bf16', outDType },
    bytes: tokens * hidden * (outDType === 'bf16' ? 4 : 6),
    prepare: async (stream) => {
      const random = seededRandom(2);
      const { host, tensor } = placeTable(stream);
      const ids = Array.from({ length: tokens }, () => random.integer(-1, rows));
      const input = {
        table: tensor,
        ids: upload(stream, ids, [tokens], 'i32'),
      };
      const out = stream.tensor([tokens, hidden], outDType);
      const expected = referenceEmbedding(host, hidden, ids);
      return {
        run: () => void embedding(input, { stream, outDType, out }),
        check: async () => expectClose((await download(stream, out)) as Float32Array, expected),
      };
    },
  };
}

const setting = { bench: 'embedding', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
