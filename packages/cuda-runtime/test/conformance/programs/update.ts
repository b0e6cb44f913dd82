import type { Graph, GraphExec } from '../../../src/index.js';
import { readInts, zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import { addEmptyKernel as addK, addSum, hostFunction, run } from './graph-parts.js';
import type { Programs } from './program.js';

/** Rows CV: an executable made from one graph is updated from another. */
export const update: Programs = {
  CV01(s) {
    const y = zeros(s.test, s.s1, 2);
    updated(s, (graph, isSecond) => {
      const differs = (name: string) => isSecond && s.is(name);
      addK(s, graph, [], differs('grid') ? 2 : 1);
      addSum(s, graph, y, differs('arguments') ? 2 : 1);
      graph.addFill(y, differs('fill value') ? 2 : 1);
    });
  },
  CV02(s) {
    const y = zeros(s.test, s.s1, 1);
    updated(s, (graph, isSecond) => (isSecond ? addSum(s, graph, y, 1) : addK(s, graph)));
  },
  CV03(s) {
    const y = zeros(s.test, s.s1, 2);
    updated(s, (graph, isSecond) => graph.addFill(y, 1, isSecond ? 8 : 4));
  },
  CV04(s) {
    updated(s, (graph, isSecond) => graph.addHost(hostFunction(s, 0, isSecond ? 2 : 1)));
  },
  CV05(s) {
    updated(s, (graph, isSecond) => {
      const first = addK(s, graph);
      if (!isSecond) addK(s, graph, [first]);
    });
  },
  CV06(s) {
    const y = zeros(s.test, s.s1, 1);
    updated(s, (graph, isSecond) => {
      if (isSecond) addK(s, graph, [graph.addFill(y, 1)]);
      else graph.addFill(y, 1, 4, [addK(s, graph)]);
    });
  },
  CV07(s) {
    const y = zeros(s.test, s.s1, 1);
    updated(s, (graph, isSecond) => {
      const first = addK(s, graph);
      if (isSecond) graph.addFill(y, 1, 4, [first]);
      else addK(s, graph, [first]);
    });
  },
  CV08(s) {
    const y = zeros(s.test, s.s1, 1);
    const host = s.test.device.allocHostSync(4);
    updated(s, (graph, isSecond) => (isSecond ? graph.addCopy(host, y) : graph.addCopy(y, host)));
  },
  CV09(s) {
    updated(s, (graph, isSecond) => {
      const a = addK(s, graph);
      const b = addK(s, graph, [a]);
      addK(s, graph, [isSecond ? a : b]);
    });
  },
  CV10(s) {
    const [x, y] = [zeros(s.test, s.s1, 1), zeros(s.test, s.s1, 1)];
    const params = { x, y, started_early: null, value: 1, microseconds: 0 };
    const { pdl_first: first, pdl_second: second } = s.test.kernels;
    updated(s, (graph, isSecond) => {
      const a = graph.addKernel(first, { grid: [1], block: [1] }, params);
      const b = graph.addKernel(second, { grid: [1], block: [1] }, params);
      graph.addDependency(a, b, { type: isSecond ? 'full' : 'programmatic' });
    });
  },
  async CV11(s) {
    const y = zeros(s.test, s.s1, 1);
    const executable = updated(s, (graph, isSecond) => {
      addSum(s, graph, y, isSecond ? 7 : 5);
      if (isSecond) addSum(s, graph, y, 7);
    });
    await run(s, executable);
    s.put('launch', 0);
    const [value = 0] = await readInts(s.s1, y);
    s.put('value', value === 5 ? 'old' : value);
  },
};

// Builds both graphs, makes an executable of the first and updates it from the second.
function updated(s: Scene, build: (graph: Graph, isSecond: boolean) => unknown): GraphExec {
  const [first, second] = [s.test.device.createGraph(), s.test.device.createGraph()];
  build(first, false);
  build(second, true);
  const executable = first.instantiateSync();
  const report = executable.update(second);
  s.put('call', report.ok ? 0 : 910);
  s.put('result', report.result);
  s.put('node', report.node ? 'given' : 'none');
  return executable;
}
