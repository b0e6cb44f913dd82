import type { Tensor } from '@altstream/cuda-runtime';
import { downloadRaw, onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { bf16, makeT32 } from '../test/makers/t32.js';

const pages = 4;

onEachBackend((backend) => {
  const { withTensors, load } = makeT32(backend);

  describe('a copied page', () => {
    it.each(['float32', 'bfloat16'] as const)(
      'has the bytes of the other one in every layer, and no other page changes (%s)',
      async (dtype) => {
        const model = await load({ directory: await withTensors(bf16), dtype });
        const stream = model.device.createStream();
        const cache = model.createCache(pages);
        const tensors: Tensor[] = cache.layers.flatMap(({ k, v, indexKeys }) =>
          indexKeys ? [k, v, indexKeys] : [k, v],
        );
        expect(tensors.length).toBeGreaterThan(2 * cache.layers.length);
        tensors.forEach((tensor, index) => {
          const bytes = Uint8Array.from({ length: tensor.bytes }, (_, i) => (i * 31 + index) % 251);
          stream.write(tensor, bytes);
        });
        const read = async () => {
          const all: Uint8Array[][] = [];
          for (const tensor of tensors) {
            const bytes = await downloadRaw(stream, tensor);
            const width = bytes.length / pages;
            all.push(
              Array.from({ length: pages }, (_, p) => bytes.slice(p * width, (p + 1) * width)),
            );
          }
          return all;
        };
        const before = await read();
        cache.copyPage(1, 3, stream);
        const after = await read();
        const expected = before.map(([p0, p1, p2]) => [p0, p1, p2, p1]);
        expect(after).toEqual(expected);
        expect(after).not.toEqual(before);
        for (const page of [-1, 4, 0.5]) {
          const message = new RegExp(`copyPage: \`to\` is ${page}, expected a page from 0 to 3`);
          expect(() => cache.copyPage(0, page, stream)).toThrow(message);
        }
        cache.dispose();
        stream.dispose();
      },
    );
  });
});
