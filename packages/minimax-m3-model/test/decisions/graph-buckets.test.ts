// A graph of a fixed number of rows, filled more or less: what an engine replays.
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from '../makers/folders.js';
import { worst } from '../makers/golden.js';
import { makeModels } from '../makers/models.js';
import { Session } from '../makers/session.js';

const rows = 8;

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe.each([
    { model: 'T32', mxfp8: false, dtype: 'float32', prompt: 45, vocab: 256 },
    { model: 'T32', mxfp8: true, dtype: 'bfloat16', prompt: 45, vocab: 256 },
    { model: 'T128', mxfp8: true, dtype: 'bfloat16', prompt: 600, vocab: 512 },
    { model: 'T128', mxfp8: false, dtype: 'bfloat16', prompt: 130, vocab: 512 },
  ] as const)(
    'a bucket of $model, mxfp8 $mxfp8, $dtype',
    ({ model: name, mxfp8, dtype, ...size }) => {
      it('gives a row the same bits for every amount of padding, and those of an eager pass', async () => {
        const model = await load({ directory: await folder({ model: name, mxfp8 }), dtype });
        const session = new Session(model, rows, size.prompt + 1);
        const tokens = hashTokens(size.prompt + rows, size.vocab);
        // Prompts of one length, so that all can be set back together; each has tokens of its own.
        for (let sequence = 0; sequence < rows; sequence++) {
          const own = tokens.map((token) => (token + 7 * sequence) % size.vocab);
          await session.run([{ sequence, tokens: own.slice(0, size.prompt) }]);
        }
        const pieces = tokens
          .slice(size.prompt)
          .map((token, sequence) => ({ sequence, tokens: [token] }));
        const { replay } = await session.capture(rows);
        const full = (await replay(pieces)).flat();
        expect(new Set(full.map((row) => row[0])).size).toBe(rows);
        for (let filled = 1; filled <= rows; filled++) {
          const some = pieces.slice(-filled);
          const padding = rows - filled;
          session.rewind(size.prompt);
          const replayed = (await replay(some)).flat();
          session.rewind(size.prompt);
          const eager = (await session.run(some, { padding })).flat();
          session.rewind(size.prompt);
          const alone = (await session.run(some)).flat();
          expect(replayed).toHaveLength(filled);
          for (const [i, row] of replayed.entries()) {
            const expected = full[i + padding] ?? [];
            for (const one of [row, eager[i] ?? [], alone[i] ?? []]) {
              expect(worst(one, expected)).toBe(0);
            }
          }
        }
      });
    },
  );
});
