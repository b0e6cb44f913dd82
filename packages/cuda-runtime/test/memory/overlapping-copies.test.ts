import { expect } from 'vitest';
import { describeEachBackend } from '../../src/testing/index.js';
import { type GraphRow, GraphScene } from '../makers/graph-scene.js';

const refused = (api: string) =>
  expect.objectContaining({
    code: 'CRT_ARGUMENT',
    api,
    message: expect.stringContaining(
      '`destination` is bytes 4 to 36 and `source` bytes 0 to 32 of buffer b (64 bytes), expected bytes that do not overlap',
    ),
    hint: 'Copy to another buffer first, and from there',
  });

const rows: readonly GraphRow[] = [
  {
    name: 'a copy over its own source is refused, in streams, captures and graphs',
    async run({ device, stream }) {
      const buffer = device.alloc(64, { label: 'b' });
      const [to, from] = [buffer.subarray(4, 32), buffer.subarray(0, 32)];
      expect(() => stream.copy(to, from)).toThrow(refused('stream.copy'));
      expect(() => stream.copy(from, to)).toThrow(/bytes 0 to 32 and `source` bytes 4 to 36/);
      const graph = device.createGraph();
      expect(() => graph.addCopy(to, from)).toThrow(refused('graph.addCopy'));
      const node = graph.addCopy(buffer.subarray(32, 32), from);
      const exec = graph.instantiateSync();
      expect(() => exec.setCopy(node, to, from)).toThrow(refused('graphExec.setCopy'));
      const captured = device.capture(
        (s) => expect(() => s.copy(to, from)).toThrow(refused('stream.copy')),
        { stream },
      );
      expect(captured.nodes).toEqual([]);
    },
  },
  {
    name: 'bytes beside one another, none, and the same ones are copied',
    async run(scene) {
      const { stream } = scene;
      const t = scene.ints(1, 2, 3, 4);
      const { buffer } = t;
      stream.copy(buffer.subarray(8, 8), buffer.subarray(0, 8));
      stream.copy(buffer.subarray(0, 16), buffer.subarray(0, 16));
      stream.copy(buffer.subarray(4, 4), buffer.subarray(0, 4));
      stream.copy(buffer.subarray(1, 15), buffer.subarray(0, 16), 0);
      expect(await scene.read(t)).toEqual([1, 1, 1, 2]);
    },
  },
];

describeEachBackend('copies within one memory', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
