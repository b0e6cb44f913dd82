import { expect } from 'vitest';
import { Tensor } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { type GraphRow, GraphScene } from '../makers/graph-scene.js';

const block = { grid: [1], block: [4] } as const;

const rows: readonly GraphRow[] = [
  {
    name: 'memory smaller than the header says is refused, in streams, captures and graphs',
    run(scene) {
      const { device, stream } = scene;
      const y = scene.ints(0, 0, 0, 0);
      const fill = scene.kernel('fill');
      const params = (count: number) => ({ y, count, value: 77 });
      const text =
        /kernel test_fill: `y` spans 16 bytes, expected at least 20 for the other fields/;
      expect(() => stream.launch(fill, block, params(5))).toThrow(text);
      const graph = device.createGraph();
      expect(() => graph.addKernel(fill, block, params(5))).toThrow(text);
      const captured = device.capture(
        (s) => expect(() => s.launch(fill, block, params(5))).toThrow(text),
        { stream },
      );
      expect(captured.nodes).toEqual([]);
      const node = graph.addKernel(fill, block, params(4));
      const exec = graph.instantiateSync();
      expect(() => exec.setKernel(node, fill, block, params(2 ** 31 - 1))).toThrow(/at least 8589/);
    },
  },
  {
    name: 'of a tensor what it spans counts, of a buffer all; counts of 0 and below need nothing',
    async run(scene) {
      const { device, stream } = scene;
      const y = scene.ints(0, 0, 0, 0);
      const fill = scene.kernel('fill');
      const launch = (memory: Tensor | Tensor['buffer'], count: number) =>
        stream.launch(fill, block, { y: memory, count, value: 7 });
      expect(() => launch(y.slice(0, 0, 2), 3)).toThrow(/spans 8 bytes/);
      launch(y.slice(0, 0, 2), 2);
      launch(y.buffer, 3);
      for (const count of [0, -1]) launch(Tensor.allocate(device, [0], 'i32'), count);
      expect(await scene.read(y)).toEqual([7, 7, 7, 0]);
    },
  },
];

describeEachBackend('how large memory must be', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
