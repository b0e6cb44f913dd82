import { setImmediate as turn } from 'node:timers/promises';
import type { Graph, GraphExec } from '../../../src/index.js';
import { readInts, zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import { addEmptyKernel, addSpin, addSum, hostFunction, run, sumParams } from './graph-parts.js';
import { mixedEdges } from './graphs/mixed-edges.js';
import { switchedOffInChains } from './graphs/switched-off.js';
import type { Programs } from './program.js';

const kindsInChains = ['kernel in a chain', 'fill in a chain', 'copy in a chain'];

/** Rows CG: graphs made node by node, and their executables. */
export const graphs: Programs = {
  CG01(s) {
    const graph = s.test.device.createGraph();
    const a = graph.addEmpty();
    const b = graph.addEmpty([a]);
    s.put(
      'add',
      s.number(() => graph.addDependency(b, a)),
    );
  },
  CG02(s) {
    const graph = s.test.device.createGraph();
    const a = graph.addEmpty();
    const b = graph.addEmpty([a]);
    const foreign = s.test.device.createGraph().addEmpty();
    s.put(
      'call',
      s.number(() => {
        if (s.is('duplicate')) return graph.addDependency(a, b);
        if (s.is('self')) return graph.addDependency(a, a);
        return s.is('foreign node') ? graph.addDependency(a, foreign) : graph.addEmpty([a, a]);
      }),
    );
  },
  CG12(s) {
    const graph = s.test.device.createGraph();
    s.put(
      'call',
      s.number(() => graph.addChild(graph)),
    );
  },
  async CG03(s) {
    const { graph, y } = sumGraph(s);
    const executable = graph.instantiateSync();
    s.put(
      'destroy',
      s.number(() => graph.dispose()),
    );
    s.put(
      'launch',
      s.number(() => executable.launch(s.s1)),
    );
    s.put('executed', (await readInts(s.s1, y))[0] === 1 ? 'yes' : 'no');
  },
  async CG04(s) {
    const { graph, y } = sumGraph(s, 100);
    const executable = graph.instantiateSync().launch(s.s1);
    s.put(
      'destroy',
      s.number(() => executable.dispose()),
    );
    s.put('executed', (await readInts(s.s1, y))[0] === 1 ? 'yes' : 'no');
  },
  CG05: twoStreams,
  async CG06(s) {
    const { graph, y } = sumGraph(s);
    const executable = graph.instantiateSync();
    s.put(
      'launch',
      s.number(() => executable.launch(s.legacy)),
    );
    s.put('executed', (await readInts(s.legacy, y))[0] === 1 ? 'yes' : 'no');
  },
  async CG07(s) {
    const { graph, node, y } = sumGraph(s, 100);
    const executable = graph.instantiateSync().launch(s.s1);
    const config = { grid: [1], block: [1] } as const;
    const { accumulate } = s.test.kernels;
    s.put(
      'set',
      s.number(() => executable.setKernel(node, accumulate, config, sumParams(y, 10))),
    );
    const [running = 0] = await readInts(s.s1, y);
    s.put('running', running === 1 ? 'old' : running);
    await run(s, executable);
    const [next = 0] = await readInts(s.s1, y);
    s.put('next', next - running === 10 ? 'new' : next);
  },
  CG08(s) {
    const { graph, y } = sumGraph(s);
    const foreign = sumGraph(s).node;
    const executable = graph.instantiateSync();
    const config = { grid: [1], block: [1] } as const;
    const set = () =>
      executable.setKernel(foreign, s.test.kernels.accumulate, config, sumParams(y, 1));
    s.put('call', s.number(set));
  },
  async CG09(s) {
    if (kindsInChains.some((name) => s.is(name))) return switchedOffInChains(s);
    const graph = s.test.device.createGraph();
    const add = () => {
      if (s.is('kernel')) return addEmptyKernel(s, graph);
      const y = zeros(s.test, s.s1, 1);
      return s.is('fill') ? graph.addFill(y, 1) : graph.addHost(hostFunction(s));
    };
    const node = add();
    s.put(
      'call',
      s.number(() => graph.instantiateSync().setEnabled(node, false)),
    );
  },
  async CG11(s) {
    const { graph: source, y } = sumGraph(s);
    const graph = s.test.device.createGraph();
    graph.addChild(source);
    s.put(
      'destroy',
      s.number(() => source.dispose()),
    );
    s.put(
      'launch',
      s.number(() => graph.instantiateSync().launch(s.s1)),
    );
    s.put('executed', (await readInts(s.s1, y))[0] === 1 ? 'yes' : 'no');
  },
  CG13(s) {
    const graph = s.test.device.createGraph();
    const condition = graph.createCondition(1);
    if (s.is('host node in a body')) graph.addIf(condition).then.addHost(hostFunction(s));
    s.put(
      'instantiate',
      s.number(() => graph.instantiateSync()),
    );
  },
  CG14(s) {
    const graph = s.test.device.createGraph();
    graph.addIf(graph.createCondition(1));
    s.put(
      'call',
      s.number(() => graph.clone()),
    );
  },
  async CG15(s) {
    const y = zeros(s.test, s.s1, 1);
    const graph = s.test.device.createGraph();
    const condition = graph.createCondition(s.is('condition 1') ? 1 : 0);
    const { then: body } = graph.addIf(condition);
    s.s1.beginCapture({ into: { graph: body } });
    s.s1.launch(s.test.kernels.accumulate, { grid: [1], block: [1] }, sumParams(y, 1));
    s.end();
    s.put('graph', s.graph === body ? 'same' : 'another');
    await run(s, graph.instantiateSync());
    s.put('ran', (await readInts(s.s1, y))[0] === 1 ? 'yes' : 'no');
  },
  CG16: retained,
  CG17: mixedEdges,
};

// A graph that adds 1 to y, perhaps after a while. S1 has zeroed y.
function sumGraph(s: Scene, spinMs = 0) {
  const y = zeros(s.test, s.s1, 1);
  s.s1.synchronizeSync(); // the graph may be launched on a stream that does not wait for S1
  const graph = s.test.device.createGraph();
  const node = addSum(s, graph, y, 1, spinMs > 0 ? [addSpin(s, graph, spinMs)] : []);
  return { graph, node, y };
}

async function twoStreams(s: Scene): Promise<void> {
  const graph = s.test.device.createGraph();
  addSpin(s, graph, 200);
  const first = graph.instantiateSync();
  const second = s.is('two executables') ? graph.instantiateSync() : first;
  first.launch(s.s1);
  const a = s.s1.record(s.event(true));
  second.launch(s.s2);
  const b = s.s2.record(s.event(true));
  await s.test.device.synchronize();
  const between = Math.abs(s.elapsed(a, b));
  const launches = between >= 190 ? 'serialised' : between <= 100 ? 'concurrent' : between;
  s.put('launches', launches);
}

// Counts as destroyed when the collector has taken it.
async function retained(s: Scene): Promise<void> {
  const held: { executable?: GraphExec } = {};
  const object = retain(s, held);
  if (s.is('graph destroyed')) {
    s.put('with the executable', await destroyed(object));
  } else {
    held.executable?.launch(s.s1);
    held.executable?.dispose();
    delete held.executable;
    s.put('while it runs', await destroyed(object));
    await s.s1.synchronize();
  }
  held.executable?.dispose();
  delete held.executable;
  s.put('after it', await destroyed(object));
}

function retain(s: Scene, held: { executable?: GraphExec }): WeakRef<object> {
  const graph: Graph = s.test.device.createGraph();
  addSpin(s, graph, 2000); // longer than the collections of a busy machine
  const object = {};
  graph.retain(object);
  held.executable = graph.instantiateSync();
  graph.dispose();
  return new WeakRef(object);
}

async function destroyed(object: WeakRef<object>): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await turn();
    globalThis.gc?.();
  }
  return object.deref() ? 0 : 1;
}
