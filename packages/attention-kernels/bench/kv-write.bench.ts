import { type BenchCase, runBench } from '@altstream/bench';
import { upload } from '@altstream/cuda-runtime/testing';
import { headsView, kvWrite, loadAttentionKernels } from '../src/index.js';
import { makePagedBatch } from '../test/makers/paged-batch.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { m3 } from '../test/makers/shapes.js';
import { referenceKvWrite } from '../test/reference/kv-write.js';

const width = m3.kvHeads * m3.headDim;
const heads = { heads: m3.kvHeads, headDim: m3.headDim };

const cases = [1, 16, 256, 2048].map((tokens): BenchCase => {
  const batch = makePagedBatch({ ...m3, dtype: 'bf16', sequences: [{ context: tokens, tokens }] });
  return {
    case: { dtype: 'bf16', tokens },
    bytes: 2 * 2 * tokens * (2 * width + m3.indexDim),
    prepare: async (stream) => {
      // The values of another batch: the cache starts as NaN and must end as these.
      const data = makePagedBatch({ ...batch.spec, heads: 12, seed: 2 }).q;
      const projection = upload(stream, data, [tokens, 12 * m3.headDim], 'bf16');
      const k = headsView(projection, { start: 0, ...heads });
      const v = headsView(projection, { start: width, ...heads });
      const indexK = headsView(projection, { start: 2 * width, heads: 1, headDim: m3.indexDim });
      const empty = new Float32Array(batch.kCache.length).fill(Number.NaN);
      const cacheShape = [batch.pages, m3.pageTokens, m3.kvHeads, m3.headDim];
      const kCache = upload(stream, empty, cacheShape, 'bf16');
      const vCache = upload(stream, empty, cacheShape, 'bf16');
      const indexShape = [batch.pages, m3.pageTokens, m3.indexDim];
      const indexKeys = upload(stream, batch.indexKeys, indexShape, 'bf16');
      const slots = upload(stream, batch.slots, [tokens], 'i32');
      const columns = (start: number) =>
        data.filter(
          (_, i) => i % (12 * m3.headDim) >= start && i % (12 * m3.headDim) < start + width,
        );
      return {
        run: () => kvWrite({ k, v, indexK, slots, kCache, vCache, indexKeys }, { stream }),
        check: async () => {
          for (const [cache, start] of [
            [kCache, 0],
            [vCache, width],
          ] as const) {
            const expected = referenceKvWrite(empty, columns(start), batch.slots, width);
            const actual = await readNumbers(stream, cache);
            const isEqual = expected.every((value, i) => Object.is(value, actual[i]));
            if (!isEqual) throw new Error('the cache differs from the reference');
          }
        },
      };
    },
  };
});

const setting = { bench: 'kv-write', from: import.meta.url, load: loadAttentionKernels };
await runBench(setting, cases);
