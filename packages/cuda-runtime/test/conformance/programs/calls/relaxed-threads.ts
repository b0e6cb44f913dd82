import type { Scene } from '../../scene.js';
import { addEmptyKernel } from '../graph-parts.js';
import type { Programs } from '../program.js';

/** Rows CT about threads in relaxed mode: the runtime's own, which do what JavaScript asks for. */
export const relaxedThreads: Programs = {
  // Thread B ends its handle; the runtime's thread destroys.
  async CT03(s) {
    const b = await s.threadB();
    await b.ask(s, `make ${s.case.replace('destroy ', '')}`);
    s.begin();
    s.put('call', await b.ask(s, 'dispose'));
    s.finish();
  },
  CT05(s) {
    const executable = executableOf(s);
    s.during(() => {
      if (s.is('async alloc')) return s.test.device.alloc(256, { stream: s.s2 }).dispose();
      if (s.is('malloc host')) return s.test.device.allocHostSync(256).dispose();
      if (s.is('instantiate')) return executable.graph.instantiateSync().dispose();
      return executable.exec.dispose();
    });
  },
};

function executableOf(s: Scene) {
  const graph = s.test.device.createGraph();
  addEmptyKernel(s, graph);
  return { graph, exec: graph.instantiateSync() };
}
