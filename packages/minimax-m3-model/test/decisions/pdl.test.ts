import type { Graph } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTokens } from '@altstream/hash-checkpoint';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import { makeFolders } from '../makers/folders.js';
import { worst } from '../makers/golden.js';
import { makeModels, type TestModelOptions } from '../makers/models.js';
import { Session } from '../makers/session.js';

const limit = 4;
const tokens = hashTokens(40, 256);
/** On the CPU programmatic launches gain nothing, so they are asked for. */
const on = { mode: 'on' } as const;

interface PdlReport {
  readonly maxTokens: number;
  readonly source: string;
  readonly enabled: boolean;
  readonly reason?: string;
  readonly lastPass: readonly {
    readonly kernel: string;
    readonly enabled: boolean;
    readonly reason?: string;
  }[];
}
const pdlOf = (model: MiniMaxM3Model): PdlReport => model.describe()['pdl'] as PdlReport;

/** Edges into a kernel that follows nothing but kernels, of its own stream or at a fork or join. */
function chained({ nodes, edges }: Graph) {
  const isKernel = (at: number) => nodes[at]?.kind === 'kernel';
  const followsKernels = (at: number) =>
    isKernel(at) && edges.every(({ from, to }) => to !== at || isKernel(from));
  return edges
    .filter(({ to }) => followsKernels(to))
    .map(({ from, to }) => ({ from: nodes[from], to: nodes[to] }));
}

function programmatic({ nodes, edges }: Graph) {
  return edges
    .filter(({ type }) => type === 'programmatic')
    .map(({ from, to }) => ({ from: nodes[from], to: nodes[to] }));
}

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);
  const directories: Record<'mxfp8' | 'bf16', string> = { mxfp8: '', bf16: '' };

  beforeAll(async () => {
    directories.mxfp8 = await folder({ model: 'T32', mxfp8: true });
    directories.bf16 = await folder({ model: 'T32' });
  });
  afterEach(() => vi.unstubAllEnvs());

  /** A captured pass, and what it decided for the kernels of its MoE layers. */
  async function capture(options: Partial<TestModelOptions>, tokens: number) {
    const model = await load({ directory: directories.mxfp8, ...options });
    const { graph } = await new Session(model, tokens, 8).capture(tokens);
    return { graph, pass: pdlOf(model).lastPass };
  }

  describe.each(['mxfp8', 'bf16'] as const)('a captured pass with %s experts', (format) => {
    const directory = () => ({ directory: directories[format] });

    it.each(['config', 'environment'] as const)(
      'has a programmatic edge for each kernel behind another at the limit (%s), and none above it',
      async (source) => {
        const pdl = { ...on, ...(source === 'config' && { maxTokens: { [format]: limit } }) };
        if (source === 'environment') {
          vi.stubEnv(`MOE_KERNELS_PDL_MAX_TOKENS_${format.toUpperCase()}`, String(limit));
        }
        const options = { ...directory(), pdl };
        const within = await capture(options, limit);
        expect(programmatic(within.graph)).toEqual(chained(within.graph));
        expect(chained(within.graph).length).toBeGreaterThan(30);
        expect(within.pass.map(({ reason }) => reason)).toEqual(Array(4).fill(undefined));
        const beyond = await capture(options, limit + 1);
        expect(programmatic(beyond.graph)).toEqual([]);
        expect(beyond.pass.map(({ reason }) => reason)).toEqual(
          within.pass.map(() => `${limit + 1} tokens are more than the limit ${limit}`),
        );
      },
    );

    it('has them at the fork and the join of each MoE layer too, and none with a limit of 0', async () => {
      const { graph } = await capture({ ...directory(), pdl: { ...on, maxTokens: -1 } }, limit);
      const crossing = programmatic(graph).filter(({ from, to }) => from?.stream !== to?.stream);
      expect(crossing.map(({ to }) => to?.label.replace(/_.*/, ''))).toEqual(
        [0, 1, 2].flatMap(() => ['linear', 'finalize']),
      );
      const none = await capture({ ...directory(), pdl: { ...on, maxTokens: 0 } }, 1);
      expect(programmatic(none.graph)).toEqual([]);
    });
  });

  describe('describe() of a model', () => {
    it('has the limit, where it comes from, and what the last pass decided', async () => {
      const pdl = { ...on, maxTokens: { mxfp8: 7 } };
      const model = await load({ directory: directories.mxfp8, pdl });
      expect(pdlOf(model)).toMatchObject({ maxTokens: 7, source: 'config', enabled: true });
      expect(pdlOf(model).lastPass).toEqual([]);
      await new Session(model, 1, 8).run([{ sequence: 0, tokens: [5, 6] }]);
      expect(pdlOf(model).lastPass).toHaveLength(4);
    });

    it('has one launch for choosing and grouping few tokens, two for many, and why', async () => {
      const model = await load({ directory: directories.mxfp8 });
      const routing = () => model.describe()['routing'];
      expect(routing()).toBe('no pass yet');
      const session = new Session(model, 1, 40);
      await session.run([{ sequence: 0, tokens: hashTokens(32, 256) }]);
      const kernels = ['topk_permute_f32'];
      expect(routing()).toEqual({ path: 'fused', kernels, refused: [] });
      expect(pdlOf(model).lastPass[0]?.kernel).toBe('topk_permute_f32');
      await new Session(model, 1, 40).run([{ sequence: 0, tokens: hashTokens(33, 256) }]);
      const refused = [{ path: 'fused', reason: '33 tokens are more than 32' }];
      expect(routing()).toMatchObject({ path: 'separate', refused });
      expect(pdlOf(model).lastPass).toHaveLength(5);
    });

    it('says why there is none', async () => {
      vi.stubEnv('MOE_KERNELS_DISABLE_PDL', '1');
      const model = await load({ directory: directories.mxfp8 });
      expect(pdlOf(model)).toMatchObject({ enabled: false, reason: 'MOE_KERNELS_DISABLE_PDL=1' });
    });

    it('is not reached with a limit that is no number of tokens', async () => {
      const { mxfp8: directory } = directories;
      await expect(load({ directory, pdl: { maxTokens: 1.5 } })).rejects.toThrow('pdl.maxTokens');
    });
  });

  describe('programmatic launches', () => {
    it.each([
      ['mxfp8', 'float32'],
      ['mxfp8', 'bfloat16'],
      ['bf16', 'bfloat16'],
    ] as const)(
      'change no bit of a pass, eager or captured: %s experts, %s',
      async (format, dtype) => {
        const outcomes: Float32Array[][] = [];
        const directory = directories[format];
        for (const maxTokens of [0, -1]) {
          const model = await load({ directory, dtype, pdl: { ...on, maxTokens } });
          const session = new Session(model, 1, tokens.length + 2);
          const [eager = []] = await session.run([{ sequence: 0, tokens }]);
          const { graph, replay } = await session.capture(1);
          expect(programmatic(graph).length > 0).toBe(maxTokens !== 0);
          const rows = [...eager];
          for (const token of [5, 6])
            rows.push(...(await replay([{ sequence: 0, tokens: [token] }])).flat());
          outcomes.push(rows);
        }
        const [off = [], without = []] = outcomes;
        expect(without).toHaveLength(tokens.length + 2);
        for (const [i, row] of without.entries()) expect(worst(row, off[i] ?? [])).toBe(0);
      },
    );
  });
});
