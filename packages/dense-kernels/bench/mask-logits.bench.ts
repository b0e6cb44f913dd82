import { runBench } from '@altstream/bench';
import { download, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, maskLogits } from '../src/index.js';
import { referenceMaskLogits } from '../test/reference/mask-logits.js';

const vocab = 200_064;
const words = Math.ceil(vocab / 32);

const cases = [1, 8, 64].map((count) => ({
  case: { count, vocab },
  bytes: count * (vocab * 8 + words * 4),
  prepare: async (stream: Parameters<typeof upload>[0]) => {
    const random = seededRandom(1);
    const logits = Array.from({ length: count }, () => random.floats(vocab, 10));
    const masks = logits.map(() =>
      Int32Array.from({ length: words }, () => random.integer(-(2 ** 31), 2 ** 31)),
    );
    const sources = Array.from({ length: count }, (_, row) => row);
    const flat = Float32Array.from(logits.flatMap((row) => [...row]));
    const bits = Int32Array.from(masks.flatMap((mask) => [...mask]));
    const input = {
      logits: upload(stream, flat, [count, vocab], 'f32'),
      sources: upload(stream, Int32Array.from(sources), [count], 'i32'),
      mask: upload(stream, bits, [count, words], 'i32'),
    };
    const out = stream.tensor([count, vocab], 'f32');
    return {
      run: () => void maskLogits(input, { stream, out }),
      check: async () => {
        const actual = (await download(stream, out)) as Float32Array;
        const wrong = referenceMaskLogits(logits, sources, masks).findIndex(
          (value, index) => Math.fround(value) !== actual[index],
        );
        if (wrong >= 0) throw new Error(`element ${wrong} is ${actual[wrong]}`);
      },
    };
  },
}));

const setting = { bench: 'mask-logits', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
