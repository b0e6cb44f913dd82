import { expect } from 'vitest';
import { type Stream, Tensor, withAlt } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';

/** Two ints of the graph that is being captured on `stream`. */
function owned({ device }: GraphScene, stream: Stream): Tensor {
  return Tensor.allocate(device, [2], 'i32', { stream, graphOwned: true, label: 'owned' });
}

const rows: readonly GraphRow[] = [
  {
    name: 'CU10, L10: alloc, work and free are nodes behind one another, and it relaunches',
    async run(scene) {
      const { device, stream } = scene;
      const out = scene.ints(0, 0);
      const graph = device.capture(
        (s) => {
          const memory = owned(scene, s);
          s.fill(memory, 2).copy(out, memory).free(memory);
          expect(answer(() => memory.dispose())).toBe('CRT_NOT_OWNER 1');
        },
        { stream },
      );
      expect(graph.nodes.map(({ kind }) => kind)).toEqual(['alloc', 'fill', 'copy', 'free']);
      expect(graph.edges).toHaveLength(3);
      expect(graph.nodes[0]?.stream).toBe(`${stream.name}#${stream.id}`);
      const exec = await graph.instantiate();
      exec.launch(stream).launch(stream);
      expect(await scene.read(out)).toEqual([0x02020202, 0x02020202]);
      expect(answer(() => graph.clone())).toBe('CRT_GRAPH_SINGLE_EXEC 801');
    },
  },
  {
    name: 'CU12, CU13, L12: freed twice, or what is an ordinary buffer, answers 1 and adds no node',
    run(scene) {
      const { device, stream } = scene;
      const plain = device.alloc(8, { stream });
      const graph = device.capture(
        (s) => {
          const memory = owned(scene, s);
          s.free(memory);
          expect(answer(() => s.free(memory))).toBe('CRT_ARGUMENT 1');
          expect(answer(() => s.free(plain))).toBe('CRT_ARGUMENT 1');
          expect(answer(() => s.free({} as never))).toBe('CRT_ARGUMENT 0');
          expect(s.captureStatus).toBe('active');
        },
        { stream },
      );
      expect(graph.nodes.map(({ kind }) => kind)).toEqual(['alloc', 'free']);
    },
  },
  {
    name: 'outside a capture both are refused, and say what to do',
    run(scene) {
      const { device, stream } = scene;
      expect(() => owned(scene, stream)).toThrow(/device.alloc: memory of a graph .*captured/);
      const { buffer } = device.createGraph().addAlloc(8);
      expect(() => stream.free(buffer)).toThrow(/stream.free: .*inside the capture/);
      buffer.dispose();
      expect(() => device.alloc(8, { graphOwned: 1 as never })).toThrow(/`graphOwned` is 1/);
    },
  },
  {
    name: 'memory that escapes the graph is what the last launch left, until it is disposed',
    async run(scene) {
      const { device, stream } = scene;
      let memory: Tensor | undefined;
      const graph = device.capture(
        (s) => {
          memory = owned(scene, s);
          s.fill(memory, 3);
        },
        { stream },
      );
      const exec = graph.instantiateSync();
      exec.launch(stream);
      if (!memory) throw new Error('captured');
      expect(await scene.read(memory)).toEqual([0x03030303, 0x03030303]);
      expect(answer(() => exec.launch(stream))).toBe('CRT_ARGUMENT 1');
      memory.dispose();
      exec.launch(stream).launch(stream);
      await stream.synchronize();
    },
  },
  {
    name: 'on a fork it is allocated and freed beside the main stream; one branch joins',
    async run(scene) {
      const { device, stream } = scene;
      const alt = device.createStream({ name: 'alt' });
      const out = scene.ints(0, 0);
      const graph = device.capture(
        () =>
          withAlt(
            stream,
            alt,
            () => {
              const memory = owned(scene, alt);
              alt.fill(memory, 4).copy(out, memory).free(memory);
            },
            () => undefined,
          ),
        { stream },
      );
      await scene.run(graph);
      expect(await scene.read(out)).toEqual([0x04040404, 0x04040404]);
    },
  },
  {
    name: 'a capture that fails gives the buffer back to its owner, and leaves nothing behind',
    async run(scene) {
      const { device, stream, runtime } = scene;
      const before = runtime.stats().live['buffer'] ?? 0;
      let memory: Tensor | undefined;
      expect(() =>
        device.capture(
          (s) => {
            memory = owned(scene, s);
            s.free(memory);
            throw new Error('given up');
          },
          { stream },
        ),
      ).toThrow('given up');
      memory?.dispose();
      expect(memory?.buffer.isDisposed).toBe(true);
      expect(runtime.stats().live['buffer'] ?? 0).toBe(before);
      const exec = device
        .capture((s) => void owned(scene, s).dispose(), { stream })
        .instantiateSync();
      exec.launch(stream).launch(stream);
      await stream.synchronize();
    },
  },
];

describeEachBackend('memory that a captured graph owns', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
