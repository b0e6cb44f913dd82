import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeFolders } from '../makers/folders.js';
import { makeModels, type TestModelOptions } from '../makers/models.js';
import { Session } from '../makers/session.js';

onEachBackend((backend) => {
  // CUDA tells times to half a microsecond.
  const clockNs = backend === 'cuda' ? 500 : 0;
  const folder = makeFolders();
  const load = makeModels(backend);
  let directory = '';

  beforeAll(async () => {
    directory = await folder({ model: 'T32', mxfp8: true });
  });

  describe('a captured decode step', () => {
    const streamsOf = async (options: Partial<TestModelOptions>) => {
      const session = new Session(await load({ directory, ...options }), 1, 8);
      const { graph } = await session.capture(1);
      return { graph, streams: new Set(graph.nodes.map(({ stream }) => stream)) };
    };

    it('captures two branches per MoE layer: router and experts on alt, the rest on the main stream', async () => {
      const { graph } = await streamsOf({});
      const onAlt = graph.nodes.filter(({ stream }) => stream?.startsWith('alt'));
      const labels = onAlt.map(({ label }) => label).join(' ');
      expect(labels).toContain('topk');
      expect(labels).toContain('experts_down');
      expect(labels).not.toContain('swiglu');
      expect(onAlt.filter(({ label }) => label.includes('topk'))).toHaveLength(3);
    });

    it('forks at the norm and joins at the sum, with no node between the kernels', async () => {
      const { graph } = await streamsOf({});
      const { nodes, edges } = graph;
      const isAlt = (at: number) => nodes[at]?.stream?.startsWith('alt') === true;
      const labelOf = (at: number) => nodes[at]?.label ?? '';
      const crossing = edges.filter(({ from, to }) => isAlt(from) !== isAlt(to));
      const forks = crossing.filter(({ to }) => isAlt(to));
      const joins = crossing.filter(({ from }) => isAlt(from));
      expect([forks.length, joins.length]).toEqual([3, 3]);
      for (const [i, fork] of forks.entries()) {
        const join = joins[i];
        expect(labelOf(fork.from)).toContain('rms_norm');
        expect(labelOf(fork.to)).toContain('linear');
        // What the alternate stream did in the layer before lies in front of the norm.
        expect(edges.filter(({ to }) => to === fork.to)).toHaveLength(1);
        expect(labelOf(join?.from ?? -1)).toContain('experts_down');
        expect(labelOf(join?.to ?? -1)).toContain('finalize');
        // The shared expert runs from the same norm to the same sum.
        const own = edges.filter(({ from, to }) => from === fork.from && !isAlt(to));
        const last = edges.filter(({ from, to }) => to === join?.to && !isAlt(from));
        expect([own, last].map((some) => some.length)).toEqual([1, 1]);
        expect(labelOf(own[0]?.to ?? -1)).toContain('linear');
        expect(labelOf(last[0]?.from ?? -1)).toContain('linear');
      }
      const kinds = new Set(nodes.map(({ kind }) => kind));
      expect([...kinds].filter((kind) => !['kernel', 'fill'].includes(kind))).toEqual([]);
    });

    it('is drawn with a column for each stream', async () => {
      const { graph } = await streamsOf({});
      const svg = graph.toSvg();
      expect(svg).toContain('<svg');
      expect(svg).toContain('alt');
      expect(svg).toContain('experts_gate_up');
    });

    it('shows both streams in the trace: routed work lies between the fork and the sum', async () => {
      const model = await load({ directory });
      const session = new Session(model, 1, 8);
      const { replay } = await session.capture(1);
      model.runtime.trace.start();
      await replay([{ sequence: 0, tokens: [5] }]);
      const { spans } = model.runtime.trace.stop();
      const named = (name: string) => spans.filter((span) => span.name.startsWith(name));
      const sums = named('finalize_');
      expect(sums).toHaveLength(3);
      for (const [i, routed] of named('experts_down_').entries()) {
        expect(routed.stream).toContain('alt');
        expect(sums[i]?.stream).not.toContain('alt');
        expect(routed.endNs).toBeLessThanOrEqual((sums[i]?.startNs ?? 0) + clockNs);
      }
      const streams = spans.map(({ stream }) => stream);
      expect(streams.some((stream) => stream.includes('alt'))).toBe(true);
    });

    it.each([{ overlap: 'off' }, { sharedExpert: 'fused' }] as const)(
      'captures one branch with %j',
      async (options) => {
        expect((await streamsOf(options)).streams.size).toBe(1);
      },
    );

    it('runs an eager pass on one stream unless told `always`', async () => {
      const model = await load({ directory });
      const session = new Session(model, 1, 8);
      await session.run([{ sequence: 0, tokens: [5] }]);
      expect(model.runtime.streams.get('alt').isIdle()).toBe(true);
      expect(model.describe()).toMatchObject({
        overlap: { mode: 'capture', alternateStream: 'alt' },
      });
    });
  });
});
