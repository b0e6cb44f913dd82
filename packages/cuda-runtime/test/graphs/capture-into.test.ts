import { expect } from 'vitest';
import { DisposedError } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';

const rows: readonly GraphRow[] = [
  {
    name: 'CB20: a capture into a graph behind a node gives the same graph, with an edge from the node',
    async run(scene) {
      const { stream, device } = scene;
      const graph = device.createGraph();
      const y = scene.ints(1);
      const a = scene.add(graph, y, 1, 1);
      const record = () => {
        stream.launch(scene.kernel('accumulate'), scene.one, scene.accumulate(y, 10, 0));
      };
      const result = device.capture(record, { stream, into: { graph, after: [a] } });
      expect(result).toBe(graph);
      expect(graph.edges).toMatchObject([{ from: 0, to: 1 }]);
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([20]);
    },
  },
  {
    name: 'CB21: a capture into a graph that fails destroys the graph, and says so',
    run(scene) {
      const { stream, device } = scene;
      const fork = device.createStream();
      for (const end of ['unjoined', 'abort', 'throw'] as const) {
        const graph = device.createGraph();
        graph.addEmpty();
        const failing = () => {
          fork.waitStream(stream);
          fork.launch(scene.kernel('empty'), scene.one, { tag: 0 });
          if (end === 'throw') throw new Error('planted');
          if (end === 'abort') stream.abortCapture();
        };
        expect(() => device.capture(failing, { stream, into: { graph } })).toThrow();
        for (const use of [() => graph.nodes, () => graph.addEmpty(), () => graph.clone()]) {
          expect(answer(use)).toBe('CRT_DISPOSED 1');
        }
        expect(() => graph.instantiateSync()).toThrow(DisposedError);
        expect([stream.captureStatus, fork.captureStatus]).toEqual(['none', 'none']);
      }
      fork.dispose();
    },
  },
  {
    name: 'a graph that is captured into is busy, and cannot be captured into twice',
    run(scene) {
      const { stream, device } = scene;
      const graph = device.createGraph();
      const other = device.createStream();
      stream.beginCapture({ into: { graph } });
      expect(answer(() => graph.addEmpty())).toBe('CRT_BUSY 1');
      expect(answer(() => other.beginCapture({ into: { graph } }))).toBe('CRT_BUSY 1');
      expect(other.captureStatus).toBe('none');
      stream.endCapture();
      expect(answer(() => graph.addEmpty())).toBe('ok');
      const foreign = device.createGraph().addEmpty();
      const wrong = { graph, after: [foreign] };
      expect(answer(() => stream.beginCapture({ into: wrong }))).toBe('CRT_ARGUMENT 1');
      other.dispose();
    },
  },
  {
    name: 'CB22: without a capture there are no dependencies to read, and none to replace',
    run({ stream }) {
      expect(stream.captureDependencies).toBe(undefined);
      expect(answer(() => stream.setCaptureDependencies([]))).toBe('CRT_CAPTURE_STATE 401');
    },
  },
  {
    name: 'CB23: a fork whose dependencies were replaced by nothing needs no join',
    run(scene) {
      const { stream, device } = scene;
      const fork = device.createStream();
      const k = (on: typeof stream) => on.launch(scene.kernel('empty'), scene.one, { tag: 0 });
      stream.beginCapture();
      k(stream);
      fork.waitStream(stream);
      k(fork);
      expect(fork.captureDependencies).toEqual([1]);
      fork.setCaptureDependencies([]);
      const graph = stream.endCapture();
      expect([graph.nodes.length, graph.edges.length]).toEqual([2, 1]);
      fork.dispose();
    },
  },
  {
    name: 'CB24: a child put between two captured kernels by replacing dependencies',
    async run(scene) {
      const { stream, device } = scene;
      const child = device.createGraph();
      const y = scene.ints(1);
      scene.add(child, y, 3, 0);
      const k = (factor: number, x: number) =>
        stream.launch(scene.kernel('accumulate'), scene.one, scene.accumulate(y, factor, x));
      const graph = device.createGraph();
      const first = scene.add(graph, y, 1, 1);
      const node = graph.addChild(child, [first]);
      stream.beginCapture({ into: { graph } });
      stream.setCaptureDependencies([node.id]);
      k(1, 4);
      expect(stream.endCapture().nodes.map(({ kind }) => kind)).toEqual([
        'kernel',
        'child',
        'kernel',
      ]);
      expect(graph.edges).toHaveLength(2);
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([10]);
    },
  },
];

describeEachBackend('captures into a graph', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
