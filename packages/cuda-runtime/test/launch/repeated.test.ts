import { expect } from 'vitest';
import { LaunchConfigError, type Stream, Tensor } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { type GraphRow, GraphScene } from '../makers/graph-scene.js';

const wide = { grid: [1], block: [256] } as const;
const often = 300;

/**
 * Y becomes the number of the last launch only if every launch came in order, with its own
 * parameters.
 */
function count(scene: GraphScene, stream: Stream, y: Tensor, launches: number, first = 0): void {
  for (let at = first; at < first + launches; at += 1) {
    stream.launch(scene.kernel('accumulate'), wide, { y, count: y.elements, factor: 1, x: at });
  }
}

const sum = (launches: number): number => (launches * (launches - 1)) / 2;

// The CUDA backend makes many launches of a kernel on one stream through a graph of one node.
const rows: readonly GraphRow[] = [
  {
    name: 'every launch has its own parameters',
    async run(scene) {
      const y = scene.ints(0, 0, 0);
      count(scene, scene.stream, y, often);
      expect(await scene.read(y)).toEqual([sum(often), sum(often), sum(often)]);
      const { launchesByGraph } = scene.runtime.stats();
      if (scene.runtime.backend === 'cuda') expect(launchesByGraph).toBeGreaterThan(often - 20);
      else expect(launchesByGraph).toBeUndefined();
    },
  },
  {
    name: 'parameters are taken at the call, not when the kernel starts',
    async run(scene) {
      const y = scene.ints(0);
      scene.stream.launch(scene.kernel('spin'), scene.one, { done: null, microseconds: 20_000 });
      count(scene, scene.stream, y, often);
      expect(await scene.read(y)).toEqual([sum(often)]);
    },
  },
  {
    name: 'grid, block and shared memory change from launch to launch',
    async run(scene) {
      const y = Tensor.allocate(scene.device, [4096], 'i32', { stream: scene.stream });
      scene.stream.fill(y, 0);
      for (let at = 0; at < 40; at += 1) {
        const threads = 32 * ((at % 8) + 1);
        const config = {
          grid: [4096 / 32],
          block: [threads],
          sharedBytes: (at % 3) * 1024,
        } as const;
        const params = { y, count: 4096, factor: 1, x: at };
        scene.stream.launch(scene.kernel('accumulate'), config, params);
      }
      expect(new Set(await scene.read(y))).toEqual(new Set([sum(40)]));
    },
  },
  {
    name: 'several streams start the same kernel in turn, more of them than have a graph',
    async run(scene) {
      const streams = Array.from({ length: 7 }, (_, at) =>
        scene.device.createStream({ name: `s${at}` }),
      );
      const sums = streams.map(() => scene.ints(0));
      await scene.stream.synchronize();
      for (let at = 0; at < often; at += 1) {
        for (const [index, stream] of streams.entries()) {
          const y = sums[index];
          if (y) count(scene, stream, y, 1, at);
        }
      }
      for (const stream of streams) await stream.synchronize();
      for (const y of sums) expect(await scene.read(y)).toEqual([sum(often)]);
      for (const stream of streams) stream.dispose();
    },
  },
  {
    name: 'streams that come and go',
    async run(scene) {
      const y = scene.ints(0);
      await scene.stream.synchronize();
      for (let turn = 0; turn < 30; turn += 1) {
        const stream = scene.device.createStream({ name: `turn ${turn}` });
        count(scene, stream, y, 20, turn * 20);
        await stream.synchronize();
        stream.dispose();
      }
      expect(await scene.read(y)).toEqual([sum(600)]);
    },
  },
  {
    name: 'a launch that is refused leaves the next ones as they are',
    async run(scene) {
      const y = scene.ints(0);
      count(scene, scene.stream, y, 20);
      const params = { y, count: 1, factor: 1, x: 1000 };
      const tooMuch = { ...wide, sharedBytes: 2 ** 24 };
      expect(() => scene.stream.launch(scene.kernel('accumulate'), tooMuch, params)).toThrow(
        LaunchConfigError,
      );
      count(scene, scene.stream, y, 20, 20);
      expect(await scene.read(y)).toEqual([sum(40)]);
    },
  },
  {
    name: 'a capture in between records kernels',
    async run(scene) {
      const y = scene.ints(0);
      count(scene, scene.stream, y, 20);
      const graph = scene.device.capture(() => count(scene, scene.stream, y, 20, 20), {
        stream: scene.stream,
      });
      expect(graph.nodes).toHaveLength(20);
      count(scene, scene.stream, y, 20, 40);
      graph.instantiateSync().launch(scene.stream);
      expect(await scene.read(y)).toEqual([sum(60)]);
    },
  },
];

describeEachBackend('repeated launches', rows, async (context, row) => {
  await row.run(await GraphScene.open(context));
});
