import { type Graph, Tensor } from '../../../src/index.js';
import { zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

const one = { grid: [1], block: [1] } as const;

/** Rows CG and CM that need a graph built node by node. */
export const explicitGraphs: Programs = {
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
    const [a, b] = [graph.addEmpty(), graph.addEmpty()];
    const foreign = s.test.device.createGraph().addEmpty();
    graph.addDependency(a, b);
    const bad = () => {
      if (s.is('duplicate')) graph.addDependency(a, b);
      else if (s.is('self')) graph.addDependency(a, a);
      else if (s.is('foreign node')) graph.addDependency(a, foreign);
      else graph.addEmpty([a, a]);
    };
    s.put('call', s.number(bad));
  },
  CG08(s) {
    const [graph, other] = [s.test.device.createGraph(), s.test.device.createGraph()];
    const y = zeros(s.test, s.s1, 1);
    graph.addFill(y, 0);
    const foreign = other.addFill(y, 0);
    const exec = graph.instantiateSync();
    s.put(
      'call',
      s.number(() => exec.setFill(foreign, y, 1)),
    );
  },
  CG13(s) {
    const graph = s.test.device.createGraph();
    const condition = graph.createCondition();
    if (s.is('host node in a body')) graph.addIf(condition).then.addNotify(() => undefined);
    s.put(
      'instantiate',
      s.number(() => graph.instantiateSync()),
    );
  },
  CG14(s) {
    const graph = s.test.device.createGraph();
    graph.addIf(graph.createCondition());
    s.put(
      'call',
      s.number(() => graph.clone()),
    );
  },
  async CG15(s) {
    const graph = s.test.device.createGraph();
    const { then } = graph.addIf(graph.createCondition(s.is('condition 1') ? 1 : 0));
    const y = zeros(s.test, s.s1, 1);
    s.s1.beginCapture({ into: { graph: then } });
    s.s1.launch(s.test.kernels.fill, one, { y, count: 1, value: 1 });
    s.put('graph', s.s1.endCapture() === then ? 'same' : 'other');
    graph.instantiateSync().launch(s.s1);
    const values = new Int32Array(1);
    await s.s1.read(y, values);
    s.put('ran', values[0] === 1 ? 'yes' : 'no');
  },
  CM01(s) {
    const { graph } = allocating(s);
    graph.instantiateSync();
    const call = () => {
      if (s.is('second executable')) graph.instantiateSync();
      else if (s.is('clone')) graph.clone();
      else s.test.device.createGraph().addChild(graph);
    };
    s.put('call', s.number(call));
  },
  async CM02(s) {
    const { graph, tensor } = allocating(s);
    const exec = graph.instantiateSync();
    s.put(
      'launch',
      s.number(() => exec.launch(s.s1)),
    );
    if (!s.is('unfreed')) {
      await s.s1.synchronize();
      tensor.buffer.dispose();
    }
    s.put(
      'again',
      s.number(() => exec.launch(s.s1)),
    );
  },
  CM03(s) {
    const exec = allocating(s).graph.instantiateSync({ autoFreeOnLaunch: true });
    for (const key of ['launch', 'again']) {
      s.put(
        key,
        s.number(() => exec.launch(s.s1)),
      );
    }
  },
};

/** A graph that allocates an int and fills it. */
function allocating(s: Scene): { readonly graph: Graph; readonly tensor: Tensor } {
  const graph = s.test.device.createGraph();
  const { node, buffer } = graph.addAlloc(4);
  const tensor = Tensor.of(buffer, [1], 'i32');
  graph.addFill(tensor, 1, 4, [node]);
  return { graph, tensor };
}
