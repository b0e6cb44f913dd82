import { expect } from 'vitest';
import { type Graph, type GraphNode, open, Tensor } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';

/** A graph that allocates two ints, fills them and, if asked, frees them behind that. */
function build(scene: GraphScene, frees: boolean) {
  const graph = scene.device.createGraph();
  const { node, buffer } = graph.addAlloc(8, [], 'scratch');
  const tensor = Tensor.of(buffer, [2], 'i32');
  const fill = graph.addFill(tensor, 1, 8, [node]);
  if (frees) graph.addFree(buffer, [fill]);
  return { graph, buffer, tensor, fill };
}

const single = 'CRT_GRAPH_SINGLE_EXEC 801';

const rows: readonly GraphRow[] = [
  {
    name: 'CM01: one executable at a time, no clone, no use as a child',
    run(scene) {
      const { graph } = build(scene, true);
      const exec = graph.instantiateSync();
      expect(answer(() => graph.instantiateSync())).toBe(single);
      expect(answer(() => graph.clone())).toBe(single);
      expect(answer(() => scene.device.createGraph().addChild(graph))).toBe(single);
      exec.dispose();
      expect(answer(() => graph.instantiateSync())).toBe('ok');
    },
  },
  {
    name: 'CM02: a launch with the memory of the last one still allocated answers 1, until it is freed',
    async run(scene) {
      const { graph, buffer } = build(scene, false);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream);
      expect(answer(() => exec.launch(scene.stream))).toBe('CRT_ARGUMENT 1');
      await scene.stream.synchronize();
      buffer.dispose();
      exec.launch(scene.stream).launch(scene.stream);
      expect(exec.launches).toBe(3);
    },
  },
  {
    name: 'relaunches: refused while the buffer lives, free to go on once it is disposed',
    async run(scene) {
      const graph = scene.device.createGraph();
      const { node, buffer } = graph.addAlloc(8, [], 'scratch');
      const tensor = Tensor.of(buffer, [2], 'i32');
      const [out, fresh] = [scene.ints(0, 0), scene.ints(3, 4)];
      const filled = graph.addCopy(tensor, fresh, 8, [node]);
      const added = scene.add(graph, tensor, 1, 1, filled);
      graph.addCopy(out, tensor, 8, [added]);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream);
      expect(answer(() => exec.launch(scene.stream))).toBe('CRT_ARGUMENT 1');
      expect(await scene.read(tensor)).toEqual([4, 5]);
      // While its launch may still run, too.
      buffer.dispose();
      for (const value of [10, 20, 30]) {
        scene.stream.fill(fresh, value);
        exec.launch(scene.stream);
        const int = value * 0x01010101 + 1;
        expect(await scene.read(out)).toEqual([int, int]);
      }
      expect(exec.launches).toBe(4);
      expect(answer(() => scene.stream.copy(out, buffer))).toBe('CRT_DISPOSED 0');
      const other = scene.device.createGraph();
      expect(answer(() => other.addFree(buffer))).toBe('CRT_DISPOSED 0');
    },
  },
  {
    name: 'disposed before the first launch, the memory is the graph’s alone',
    async run(scene) {
      const { graph, buffer } = build(scene, false);
      const exec = graph.instantiateSync();
      buffer.dispose();
      exec.launch(scene.stream).launch(scene.stream);
      await scene.stream.synchronize();
      expect(exec.launches).toBe(2);
    },
  },
  {
    name: 'memory of outside that a captured graph uses: disposed, it serves every relaunch',
    async run(scene) {
      const { device, stream } = scene;
      const [x, out] = [scene.ints(5, 6), scene.ints(0, 0)];
      const graph = device.capture((s) => void s.copy(out, x), { stream });
      const exec = graph.instantiateSync();
      x.dispose();
      const other = scene.ints(0, 0); // does not get the memory
      for (let round = 0; round < 2; round += 1) {
        stream.fill(out, 0);
        exec.launch(stream);
        expect(await scene.read(out)).toEqual([5, 6]);
      }
      expect(await scene.read(other)).toEqual([0, 0]);
    },
  },
  {
    name: 'a graph that frees what it allocates can be launched again and again',
    run(scene) {
      const exec = build(scene, true).graph.instantiateSync();
      exec.launch(scene.stream).launch(scene.stream).launch(scene.stream);
      expect(exec.launches).toBe(3);
    },
  },
  {
    name: 'CM03: with autoFreeOnLaunch it can be launched twice',
    async run(scene) {
      const exec = await build(scene, false).graph.instantiate({ autoFreeOnLaunch: true });
      exec.launch(scene.stream).launch(scene.stream);
      expect(exec.launches).toBe(2);
    },
  },
  {
    name: 'CM04, L11, #33: what escaped its graph outlives graph and executable',
    async run(scene) {
      const { graph, tensor } = build(scene, false);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream);
      exec.dispose();
      graph.dispose();
      globalThis.gc?.();
      expect(await scene.read(tensor)).toEqual([0x01010101, 0x01010101]);
    },
  },
  {
    name: 'a second graph may free what the first allocates, once for each launch of it',
    run(scene) {
      const { graph, buffer } = build(scene, false);
      const exec = graph.instantiateSync();
      const freeing = scene.device.createGraph();
      freeing.addFree(buffer);
      const freer = freeing.instantiateSync();
      expect(answer(() => freer.launch(scene.stream))).toBe('CRT_ARGUMENT 1');
      for (let round = 0; round < 2; round += 1) {
        exec.launch(scene.stream);
        freer.launch(scene.stream);
      }
      expect(answer(() => freer.launch(scene.stream))).toBe('CRT_ARGUMENT 1');
    },
  },
  {
    name: 'CM05: freed on a branch that is joined, the graph has 3 nodes and 2 edges and relaunches',
    async run(scene) {
      const graph = scene.device.createGraph();
      const { node, buffer } = graph.addAlloc(4);
      const work = graph.addFill(Tensor.of(buffer, [1], 'i32'), 7, 4, [node]);
      graph.addFree(buffer, [work]);
      expect([graph.nodes.length, graph.edges.length]).toEqual([3, 2]);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream).launch(scene.stream);
      await scene.stream.synchronize();
    },
  },
  {
    name: 'CM06: memory that its graph frees cannot be freed outside; the buffer ends behind the graph',
    async run(scene) {
      const runtime = await open({ backend: scene.runtime.backend, isolated: true });
      const stream = runtime.device().createStream();
      const graph = runtime.device().createGraph();
      const { node, buffer } = graph.addAlloc(8);
      graph.addFree(buffer, [graph.addFill(buffer, 1, 8, [node])]);
      const exec = graph.instantiateSync();
      expect(answer(() => buffer.dispose())).toBe('CRT_NOT_OWNER 1');
      expect(() => buffer.dispose()).toThrow(/dispose the graph of that node first/);
      expect(buffer.isDisposed).toBe(false);
      graph.dispose();
      exec.launch(stream);
      buffer.dispose();
      expect(buffer.isDisposed).toBe(true);
      exec.launch(stream).launch(stream);
      expect(runtime.stats().live).toMatchObject({ buffer: 1 });
      exec.dispose();
      await stream.synchronize();
      await expect.poll(() => runtime.stats().live['buffer'] ?? 0).toBe(0);
      await runtime.dispose();
    },
  },
  {
    name: 'CM06: freed by another graph that nobody launches any more, it is its user’s again',
    async run(scene) {
      const { graph, buffer } = build(scene, false);
      const freeing = scene.device.createGraph();
      freeing.addFree(buffer);
      expect(answer(() => buffer.dispose())).toBe('CRT_NOT_OWNER 1');
      freeing.dispose();
      const exec = graph.instantiateSync();
      exec.launch(scene.stream);
      buffer.dispose();
      exec.launch(scene.stream);
      await scene.stream.synchronize();
    },
  },
  {
    name: 'CM07: freed twice, or what no graph allocated, answers 1',
    run(scene) {
      const { graph, buffer } = build(scene, true);
      expect(answer(() => graph.addFree(buffer))).toBe('CRT_ARGUMENT 1');
      const plain = scene.device.alloc(8);
      expect(answer(() => graph.addFree(plain))).toBe('CRT_ARGUMENT 1');
    },
  },
  {
    name: 'CM09: zero bytes are legal',
    async run(scene) {
      const graph = scene.device.createGraph();
      const { node, buffer } = graph.addAlloc(0);
      graph.addFree(buffer, [node]);
      await scene.run(graph);
      expect(buffer.bytes).toBe(0);
    },
  },
  {
    name: 'CM10: 2^50 bytes are too many, and nothing is lost by asking',
    async run(scene) {
      const graph = scene.device.createGraph();
      expect(answer(() => graph.addAlloc(2 ** 50))).toBe('CRT_OOM 2');
      expect(graph.nodes).toEqual([]);
      graph.addAlloc(16);
      await scene.run(graph);
    },
  },
  {
    name: 'CV: memory nodes cannot be updated',
    run(scene) {
      const exec = build(scene, true).graph.instantiateSync();
      const report = exec.update(build(scene, true).graph);
      expect(report).toMatchObject({ ok: false, result: 6 });
      expect(report.detail).toBe(
        'node 0 (alloc) is of kind alloc, which no update changes; instantiate the new graph instead',
      );
    },
  },
  {
    name: '#10: a free that does not wait for a branch is a race; behind the branch the memory is poison',
    async run({ runtime }) {
      if (runtime.backend !== 'cpu') return;
      const checked = await open({
        backend: 'cpu',
        isolated: true,
        cpu: { raceCheck: true, poison: true },
      });
      const device = checked.device();
      const scene = await GraphScene.open({
        runtime: checked,
        device,
        stream: device.createStream(),
      });
      const branches = (graph: Graph, isJoined: boolean): Tensor => {
        const { node, buffer } = graph.addAlloc(8, [], 'shared');
        const tensor = Tensor.of(buffer, [2], 'i32');
        const main = graph.addFill(tensor.slice(0, 0, 1), 1, 4, [node]);
        const fork = graph.addFill(tensor.slice(0, 1, 2), 2, 4, [node]);
        const after: GraphNode[] = isJoined ? [main, fork] : [main];
        graph.addFree(buffer, after);
        return tensor;
      };
      const racy = device.createGraph();
      branches(racy, false);
      expect(() => racy.instantiateSync()).toThrow(/fill \(node 2\).*free \(node 3\)|free.*fill/);
      await expect(racy.instantiate()).rejects.toMatchObject({ code: 'CRT_RACE' });
      const good = device.createGraph();
      const tensor = branches(good, true);
      await scene.run(good);
      const values = new Uint32Array(2);
      const read = scene.stream.read(tensor, values);
      await expect(read).rejects.toMatchObject({ races: [{ kind: 'not-allocated' }] });
      expect([...values]).toEqual([0xdddddddd, 0xdddddddd]);
      await checked.dispose();
    },
  },
];

describeEachBackend('memory nodes', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
