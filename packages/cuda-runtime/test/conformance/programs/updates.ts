import type { Graph, Tensor } from '../../../src/index.js';
import { accumulate, zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

const one = { grid: [1], block: [1] } as const;

/** Rows CV: an executable of the first graph, brought up to date with the second. */
export const updates: Programs = {
  CV01(s) {
    const [y, z] = [zeros(s.test, s.s1, 4), zeros(s.test, s.s1, 4)];
    play(s, (graph, isSecond) => {
      const grid = isSecond && s.is('grid') ? 2 : 1;
      const x = isSecond && s.is('arguments') ? 2 : 1;
      const params = { y, count: 4, factor: 1, x };
      graph.addKernel(s.test.kernels.accumulate, { grid: [grid], block: [1] }, params);
      graph.addFill(z, isSecond && s.is('fill value') ? 2 : 1);
    });
  },
  CV02(s) {
    const y = zeros(s.test, s.s1, 4);
    play(s, (graph, isSecond) => {
      if (isSecond) graph.addKernel(s.test.kernels.fill, one, { y, count: 4, value: 1 });
      else add(s, graph, y);
    });
  },
  CV03(s) {
    const y = zeros(s.test, s.s1, 4);
    play(s, (graph, isSecond) => {
      graph.addFill(y, 1, isSecond ? 4 : 8);
    });
  },
  async CV04(s) {
    const calls = await s.test.device.allocHost(8);
    play(s, (graph, isSecond) => {
      const params = { calls, microseconds: 0n, step: isSecond ? 2 : 1 };
      graph.addHost(s.test.module.callback('test_host_count', params));
    });
  },
  CV05(s) {
    play(s, (graph, isSecond) => {
      graph.addEmpty();
      if (!isSecond) graph.addEmpty();
    });
  },
  CV06(s) {
    const y = zeros(s.test, s.s1, 4);
    play(s, (graph, isSecond) => {
      if (isSecond) add(s, graph, y, [graph.addFill(y, 0)]);
      else graph.addFill(y, 0, 16, [add(s, graph, y)]);
    });
  },
  CV07(s) {
    const y = zeros(s.test, s.s1, 4);
    play(s, (graph, isSecond) => {
      if (isSecond) graph.addFill(y, 0);
      else add(s, graph, y);
    });
  },
  async CV08(s) {
    const host = await s.test.device.allocHost(16);
    const y = zeros(s.test, s.s1, 4);
    play(s, (graph, isSecond) => {
      if (isSecond) graph.addCopy(host, y);
      else graph.addCopy(y, host);
    });
  },
  CV09(s) {
    play(s, (graph, isSecond) => {
      const [a, b] = [graph.addEmpty(), graph.addEmpty()];
      graph.addEmpty([isSecond ? a : b]);
    });
  },
  CV10(s) {
    const [x, y] = [zeros(s.test, s.s1, 1), zeros(s.test, s.s1, 1)];
    const params = { x, y, started_early: null, value: 0, microseconds: 0 };
    play(s, (graph, isSecond) => {
      const first = graph.addKernel(s.test.kernels.pdl_first, one, params);
      const second = graph.addKernel(s.test.kernels.pdl_second, one, params);
      graph.addDependency(first, second, { type: isSecond ? 'full' : 'programmatic' });
    });
  },
  async CV11(s) {
    const y = zeros(s.test, s.s1, 1);
    accumulate(s.test, s.s1, y, 1, 5);
    const exec = play(s, (graph, isSecond) => {
      add(s, graph, y);
      if (isSecond) graph.addEmpty();
    });
    s.put(
      'launch',
      s.number(() => exec.launch(s.s1)),
    );
    const values = new Int32Array(1);
    await s.s1.read(y, values);
    s.put('value', values[0] === 6 ? 'old' : 'other');
  },
};

function play(s: Scene, build: (graph: Graph, isSecond: boolean) => void) {
  const graphs = [false, true].map((isSecond) => {
    const graph = s.test.device.createGraph();
    build(graph, isSecond);
    return graph;
  });
  const [before, after] = graphs as [Graph, Graph];
  const exec = before.instantiateSync();
  const { ok, result, node } = exec.update(after);
  s.put('call', ok ? 0 : 910);
  s.put('result', result);
  s.put('node', node ? 'given' : 'none');
  return exec;
}

function add(s: Scene, graph: Graph, y: Tensor, after: Parameters<Graph['addEmpty']>[0] = []) {
  const params = { y, count: y.elements, factor: 1, x: 1 };
  return graph.addKernel(s.test.kernels.accumulate, one, params, after);
}
