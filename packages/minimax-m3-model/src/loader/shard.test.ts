import { open, type Runtime } from '@altstream/cuda-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolders } from '../../test/makers/folders.js';
import { unevenModels } from '../../test/makers/uneven-models.js';
import { readModelConfig } from '../config.js';
import { Checkpoint } from './checkpoint.js';
import { planLayer } from './layer-weights.js';
import type { MatrixPart } from './matrix-part.js';
import { type Range, splitHeads, splitUnits } from './shard.js';
import { type MatrixParts, WeightLoader } from './weight-loader.js';
import { WeightNames } from './weight-names.js';

const folder = makeFolders();
let runtime: Runtime;

beforeAll(async () => {
  runtime = await open({ backend: 'cpu', isolated: true });
});
afterAll(() => runtime.dispose());

const ranksOf = (size: number) => Array.from({ length: size }, (_, rank) => ({ rank, size }));

describe('splitUnits', () => {
  it.each([
    [10, 4, 1, [3, 3, 2, 2]],
    [3072, 7, 32, [448, 448, 448, 448, 448, 416, 416]],
    [100, 3, 32, [64, 32, 4]],
    [2, 4, 1, [1, 1, 0, 0]],
    [32, 3, 32, [32, 0, 0]],
    [200_064, 5, 1, [40_013, 40_013, 40_013, 40_013, 40_012]],
  ])('%i over %i ranks in units of %i', (total, size, unit, counts) => {
    const parts = ranksOf(size).map((rank) => splitUnits(total, rank, unit));
    expect(parts.map(({ count }) => count)).toEqual(counts);
    expectChain(parts, total);
  });
});

describe('splitHeads', () => {
  it('gives MiniMax-M3 over 6 ranks 8 query heads on four and 16 on two, with one KV head each', () => {
    const heads = ranksOf(6).map((rank) => splitHeads({ heads: 64, kvHeads: 4 }, rank));
    expect(heads.map(({ queryHeads }) => queryHeads.count)).toEqual([8, 8, 8, 8, 16, 16]);
    expect(heads.map(({ kvHeads }) => kvHeads.start)).toEqual([0, 0, 1, 1, 2, 3]);
  });

  it('gives every query head to one rank that has its KV head, in groups of one size', () => {
    for (const kvHeads of [1, 2, 3, 4, 5, 8]) {
      for (const group of [1, 2, 3, 5, 16]) {
        for (let size = 1; size <= kvHeads * group + 3; size++) {
          const parts = ranksOf(size).map((rank) =>
            splitHeads({ heads: kvHeads * group, kvHeads }, rank),
          );
          expectChain(
            parts.map(({ queryHeads }) => queryHeads),
            kvHeads * group,
          );
          for (const { queryHeads, kvHeads: own } of parts) {
            expect(own.count === 0).toBe(queryHeads.count === 0);
            const perKvHead = queryHeads.count / Math.max(1, own.count);
            expect(Number.isInteger(perKvHead)).toBe(true);
            // Attention gives query head h the KV head floor(h / perKvHead), counted on the rank.
            for (let h = 0; h < queryHeads.count; h++) {
              const global = Math.floor((queryHeads.start + h) / group);
              expect(own.start + Math.floor(h / perKvHead)).toBe(global);
            }
          }
        }
      }
    }
  });
});

/** Parts that follow each other and end at `total`. */
function expectChain(parts: readonly Range[], total: number): void {
  let end = 0;
  for (const { start, count } of parts) {
    if (count > 0) expect(start).toBe(end);
    end += count;
  }
  expect(end).toBe(total);
}

/** Remembers what is planned. */
class RecordingLoader extends WeightLoader {
  readonly parts: MatrixPart[] = [];

  override matrix(...[parts, storage]: Parameters<WeightLoader['matrix']>) {
    this.parts.push(...(parts as MatrixParts));
    return super.matrix(parts, storage);
  }
}

describe.each(unevenModels)('the layers of $name', ({ model, mxfp8, sizes }) => {
  let directory: string | undefined;
  it.each(sizes)('are covered by %i ranks, each element once but for copies', async (size) => {
    directory ??= await folder({ model, mxfp8 });
    const config = await readModelConfig(directory);
    const source = await Checkpoint.open(directory);
    const names = new WeightNames(source);
    const cover = new Map<string, Uint8Array>();
    let ranksWithHeads = 0;
    const holders = new Array<number>(config.kvHeads).fill(0);
    for (const tensorParallel of ranksOf(size)) {
      const loader = new RecordingLoader(source, runtime.currentStream());
      const context = { source, loader, names, config, tensorParallel };
      for (const layer of config.layers.keys()) planLayer({ ...context, layer });
      for (const part of loader.parts) count(part, cover);
      loader.dispose();
      const { kvHeads } = splitHeads(config, tensorParallel);
      if (kvHeads.count > 0) ranksWithHeads++;
      for (let head = kvHeads.start; head < kvHeads.start + kvHeads.count; head++) {
        holders[head] = (holders[head] ?? 0) + 1;
      }
    }
    await source.close();
    expect(holders.every((ranks) => ranks > 0)).toBe(true);
    for (const [name, counts] of cover) {
      const perHead = counts.length / config.kvHeads;
      const copies = (i: number) => {
        if (/\.(k_proj|v_proj|index_q_proj)\./.test(name)) return holders[Math.floor(i / perHead)];
        if (name.includes('index_k_proj')) return ranksWithHeads;
        return name.endsWith('.block_sparse_moe.gate.weight') ? size : 1;
      };
      expect([name, counts.findIndex((held, i) => held !== copies(i))]).toEqual([name, -1]);
    }
  });
});

/** Adds one wherever a part lies. */
function count(
  { spellings: [{ name }], rows, columns, ...part }: MatrixPart,
  cover: Map<string, Uint8Array>,
): void {
  const counts = cover.get(name) ?? new Uint8Array(rows * columns);
  cover.set(name, counts);
  const { rowRange = { start: 0, count: rows }, columnRange = { start: 0, count: columns } } = part;
  for (let row = rowRange.start; row < rowRange.start + rowRange.count; row++) {
    const start = row * columns + columnRange.start;
    for (let i = start; i < start + columnRange.count; i++) counts[i] = (counts[i] ?? 0) + 1;
  }
}
