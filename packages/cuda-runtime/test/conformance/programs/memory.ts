import { type GraphExec, Tensor } from '../../../src/index.js';
import { readInts } from '../../makers/test-kernels.js';
import { type Scene, shapeOf } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CM: memory nodes and pools. */
export const memory: Programs = {
  CM01(s) {
    const { graph } = memoryGraph(s, true);
    const { device } = s.test;
    if (s.is('second executable')) graph.instantiateSync();
    s.put(
      'call',
      s.number(() => {
        if (s.is('clone')) return graph.clone();
        return s.is('child') ? device.createGraph().addChild(graph) : graph.instantiateSync();
      }),
    );
  },
  async CM02(s) {
    const { graph, buffer } = memoryGraph(s, false);
    const executable = graph.instantiateSync();
    await putLaunch(s, 'launch', executable);
    if (s.is('after an async free')) buffer.dispose();
    await putLaunch(s, 'again', executable);
  },
  async CM03(s) {
    const executable = memoryGraph(s, false).graph.instantiateSync({ autoFreeOnLaunch: true });
    await putLaunch(s, 'launch', executable);
    await putLaunch(s, 'again', executable);
  },
  async CM04(s) {
    const { graph, buffer, tensor } = memoryGraph(s, false);
    const executable = graph.instantiateSync();
    await putLaunch(s, 'launch', executable);
    executable.dispose();
    graph.dispose();
    s.put(
      'fill',
      s.number(() => s.s1.fill(tensor, 5)),
    );
    const [value] = await readInts(s.s1, tensor);
    s.put('value', value === 0x05050505 ? 'right' : String(value));
    s.put(
      'free',
      s.number(() => buffer.dispose()),
    );
  },
  async CM05(s) {
    const { graph } = memoryGraph(s, true);
    s.put('end', shapeOf(graph));
    const executable = graph.instantiateSync();
    await putLaunch(s, 'launch', executable);
    await putLaunch(s, 'again', executable);
  },
  async CM06(s) {
    const { graph, buffer } = memoryGraph(s, true);
    await putLaunch(s, 'launch', graph.instantiateSync());
    s.put(
      'call',
      s.number(() => buffer.dispose()),
    );
  },
  CM07(s) {
    const buffer = s.test.device.alloc(64, { stream: s.s1 });
    buffer.dispose();
    s.put(
      'call',
      s.number(() => buffer.dispose()),
    );
  },
  // Zero bytes have no memory: the null of our API.
  CM08: (s) =>
    s.put(
      'call',
      s.number(() => s.test.device.alloc(0, { stream: s.s1 }).dispose()),
    ),
  CM09: (s) =>
    s.put(
      'call',
      s.number(() => s.test.device.alloc(0, { stream: s.s1 }).dispose()),
    ),
  CM10(s) {
    const { device } = s.test;
    s.put(
      'call',
      s.number(() => device.alloc(2 ** 50, { stream: s.s1 })),
    );
    s.put(
      'then',
      s.number(() => device.alloc(256, { stream: s.s1 }).dispose()),
    );
  },
};

// A graph that allocates, fills, and perhaps frees.
function memoryGraph(s: Scene, frees: boolean) {
  const graph = s.test.device.createGraph();
  const { node, buffer } = graph.addAlloc(8);
  const tensor = Tensor.of(buffer, [2], 'i32');
  const fill = graph.addFill(tensor, 3, 8, [node]);
  if (frees) graph.addFree(buffer, [fill]);
  return { graph, buffer, tensor };
}

async function putLaunch(s: Scene, key: string, executable: GraphExec): Promise<void> {
  s.put(
    key,
    s.number(() => executable.launch(s.s1)),
  );
  await s.s1.synchronize();
}
