import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DeviceBuffer, type Graph, Tensor } from '../../src/index.js';
import { GraphScene } from '../makers/graph-scene.js';
import { openTestRuntime } from '../makers/test-kernels.js';

let scene: GraphScene;

beforeEach(async () => {
  const { runtime, device } = await openTestRuntime({ cpu: { raceCheck: true } });
  scene = await GraphScene.open({ runtime, device, stream: device.createStream({ name: 's' }) });
});
afterEach(() => scene.runtime.dispose());

const kind = 'not-allocated';

function findings(graph: Graph): unknown {
  try {
    graph.instantiateSync();
    return [];
  } catch (error) {
    return error;
  }
}

describe('memory of a graph, used while it is not allocated, without running it', () => {
  test('in a capture, behind its free', () => {
    const { device, stream } = scene;
    const out = scene.ints(0, 0);
    const graph = device.capture(
      (s) => {
        const memory = device.alloc(8, { stream: s, graphOwned: true, label: 'owned' });
        s.fill(memory, 7).free(memory);
        s.copy(out, memory).fill(memory, 9);
      },
      { stream },
    );
    expect(findings(graph)).toMatchObject({
      code: 'CRT_RACE',
      message: expect.stringMatching(
        /^graph.instantiate: copy@s#\d+ \(node 3\) reads bytes 0 to 8 of buffer owned \(8 bytes\) behind free@s#\d+ \(node 2\), which frees it \(and 1 more\)\. Use memory of a graph behind its allocation/,
      ),
      races: [
        {
          kind,
          first: expect.stringContaining('free@s'),
          second: expect.stringMatching('copy.*reads'),
        },
        {
          kind,
          first: expect.stringContaining('free@s'),
          second: expect.stringMatching('fill.*writes'),
        },
      ],
    });
  });

  test('in a graph built by nodes: behind the free, before the allocation; between them is right', () => {
    const graph = scene.device.createGraph();
    const out = scene.ints(0, 0);
    const { node, buffer } = graph.addAlloc(8);
    const used = graph.addFill(buffer, 1, 8, [node]);
    const freed = graph.addFree(buffer, [used]);
    const behind = graph.addCopy(out, buffer, 4, [freed]);
    expect(findings(graph)).toMatchObject({ races: [{ kind, second: 'copy (node 3) reads' }] });
    graph.dispose();

    const other = scene.device.createGraph();
    const early = other.addAlloc(8);
    const fill = other.addFill(early.buffer, 1);
    other.addDependency(fill, early.node);
    expect(findings(other)).toMatchObject({
      races: [{ kind, first: 'alloc (node 0)', second: 'fill (node 1) writes' }],
    });
    expect(behind.kind).toBe('copy');
  });
});

describe('memory of a graph in eager work and other graphs', () => {
  const owner = (frees: boolean): { graph: Graph; buffer: DeviceBuffer } => {
    const graph = scene.device.createGraph();
    const { node, buffer } = graph.addAlloc(8, [], 'owned');
    const used = graph.addFill(buffer, 1, 8, [node]);
    if (frees) graph.addFree(buffer, [used]);
    return { graph, buffer };
  };
  const told = () => scene.stream.synchronize();
  const text =
    /copy@s#\d+ reads bytes 0 to 8 of buffer owned \(8 bytes\), which is memory of a graph: no launch has allocated it, or one has freed it/;

  test('is told before a launch has allocated it, and behind the launch that freed it', async () => {
    const { graph, buffer } = owner(true);
    const out = scene.ints(0, 0);
    const exec = graph.instantiateSync();
    scene.stream.copy(out, Tensor.of(buffer, [2], 'i32'));
    await expect(told()).rejects.toThrow(text);
    exec.launch(scene.stream).launch(scene.stream);
    await told();
    scene.stream.copy(out, Tensor.of(buffer, [2], 'i32'));
    await expect(told()).rejects.toMatchObject({ races: [{ kind, first: '', buffer: 'owned' }] });
  });

  test('is right while a launch has left it allocated, until another graph frees it', async () => {
    const { graph, buffer } = owner(false);
    const { device, stream } = scene;
    const out = scene.ints(0, 0);
    const user = device.createGraph();
    user.addCopy(out, buffer, 8);
    const freeing = device.createGraph();
    freeing.addFree(buffer);
    const [exec, use, free] = [graph, user, freeing].map((made) => made.instantiateSync());
    use?.launch(stream);
    await expect(told()).rejects.toThrow(/copy in a graph@s.*which is memory of a graph/);
    exec?.launch(stream);
    use?.launch(stream);
    stream.copy(out, buffer, 8);
    await told();
    free?.launch(stream);
    await told();
    use?.launch(stream);
    await expect(told()).rejects.toMatchObject({ races: [{ kind }] });
  });
});
