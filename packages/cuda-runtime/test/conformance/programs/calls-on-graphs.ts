import type { Stream } from '../../../src/index.js';
import { zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import { addEmptyKernel, addSum, sumParams } from './graph-parts.js';
import type { Programs } from './program.js';

/** Rows CU about graphs and executables. */
export const callsOnGraphs: Programs = {
  CU26: (s) => launchOrUpload(s, s.s1),
  CU27: (s) => launchOrUpload(s, s.s3),
  CU28(s) {
    const { graph, executable } = oneKernel(s);
    s.during(() => (s.is('destroy') ? executable.dispose() : graph.instantiateSync()));
  },
  CU29(s) {
    if (s.is('print the captured graph')) return printCaptured(s);
    const { graph, executable } = oneKernel(s);
    const y = zeros(s.test, s.s1, 1);
    const other = s.test.device.createGraph();
    const node = addSum(s, other, y, 1);
    const sum = other.instantiateSync();
    const config = { grid: [1], block: [1] } as const;
    s.during(() => {
      if (s.is('create')) return s.test.device.createGraph();
      if (s.is('destroy')) return graph.dispose();
      if (s.is('update executable')) return executable.update(graph);
      if (s.is('enable node')) return sum.setEnabled(node, false);
      if (s.is('user object')) return other.retain({});
      if (s.is('print')) return graph.toDot();
      return sum.setKernel(node, s.test.kernels.accumulate, config, sumParams(y, 2));
    });
  },
};

function printCaptured(s: Scene): void {
  const graph = s.test.device.createGraph();
  s.s1.beginCapture({ mode: s.mode, into: { graph } });
  s.put(
    'call',
    s.number(() => graph.toDot()),
  );
  s.finish();
}

function oneKernel(s: Scene) {
  const graph = s.test.device.createGraph();
  addEmptyKernel(s, graph);
  return { graph, executable: graph.instantiateSync() };
}

function launchOrUpload(s: Scene, stream: Stream): void {
  const { executable } = oneKernel(s);
  s.during(() => (s.is('upload') ? executable.upload(stream) : executable.launch(stream)));
}
