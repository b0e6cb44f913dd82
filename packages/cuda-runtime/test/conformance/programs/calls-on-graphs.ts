import type { GraphExec } from '../../../src/index.js';
import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CU about graphs and executables. */
export const callsOnGraphs: Programs = {
  CU26: (s) => launchOrUpload(s, s.s1),
  CU27: (s) => launchOrUpload(s, s.s3),
  CU28(s) {
    const executable = oneKernel(s);
    const { graph } = s;
    s.during(() => (s.is('destroy') ? executable.dispose() : graph.instantiateSync()));
  },
  CU29(s) {
    oneKernel(s);
    const { graph } = s;
    s.during(() => (s.is('destroy') ? graph.dispose() : graph.toDot()));
  },
};

/** An executable with one kernel. */
export function oneKernel(s: Scene): GraphExec {
  s.begin();
  s.k();
  s.end();
  return s.graph.instantiateSync();
}

function launchOrUpload(s: Scene, stream: Scene['s1']): void {
  const executable = oneKernel(s);
  s.during(() => executable.launch(stream));
}
