import type { CaptureMode } from '../../../src/index.js';
import { kindsOf } from '../scene.js';
import { addEmptyKernel } from './graph-parts.js';
import type { Programs } from './program.js';

/** Rows CB. */
export const beginAndEnd: Programs = {
  CB01(s) {
    s.put(
      'call',
      s.number(() => s.begin(s.legacy)),
    );
    s.put('after', s.status(s.legacy));
  },
  CB03(s) {
    s.begin();
    s.put(
      'call',
      s.number(() => s.begin()),
    );
    s.finish();
  },
  CB04(s) {
    const mode = 'strict' as CaptureMode;
    s.put(
      'call',
      s.number(() => s.s1.beginCapture({ mode })),
    );
    s.put('after', s.status());
  },
  CB05(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.put(
      'call',
      s.number(() => s.begin(s.s2)),
    );
    s.put('after2', s.status(s.s2));
    s.finish();
  },
  CB06(s) {
    s.spin(s.s1, 100);
    s.put(
      'call',
      s.number(() => s.begin()),
    );
    s.k();
    s.finish();
  },
  CB07(s) {
    const stream = s.is('legacy') ? s.legacy : s.s1;
    s.put('end', s.end(stream));
    s.put('after', s.status(stream));
  },
  CB09(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.put('call', s.end(s.s2));
    s.put('after2', s.status(s.s2));
    s.finish();
  },
  CB10(s) {
    s.begin();
    s.put('end', s.end());
    s.put('after', s.status());
    const executable = s.graph.instantiateSync();
    s.put('instantiate', 0);
    s.put(
      'launch',
      s.number(() => executable.launch(s.s1)),
    );
  },
  CB16(s) {
    s.begin();
    s.link(s.s1, s.s2);
    const id = s.s1.captureId;
    s.put('fork', s.s2.captureId === id ? 'equal' : 'different');
    s.put('end', s.end());
    s.begin();
    s.put('next', s.s1.captureId === id ? 'equal' : 'different');
    s.end();
  },
  CB17(s) {
    s.begin();
    s.link(s.s1, s.s2);
    const event = s.s2.record();
    s.put(
      'destroy',
      s.number(() => s.s1.dispose()),
    );
    s.put('after2', s.status(s.s2));
    s.put(
      'event',
      s.number(() => event.isDone()),
    );
    s.put(
      'unsafe',
      s.number(() => s.s3.synchronizeSync()),
    );
  },
  CB18(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    s.put(
      'destroy',
      s.number(() => s.s2.dispose()),
    );
    s.finish();
  },
  CB19(s) {
    s.forkAndJoin();
    s.put(
      'destroy',
      s.number(() => s.s2.dispose()),
    );
    s.finish();
  },
  CB20(s) {
    const graph = s.test.device.createGraph();
    const a = graph.addEmpty();
    s.put(
      'call',
      s.number(() => s.s1.beginCapture({ mode: s.mode, into: { graph, after: [a] } })),
    );
    s.k();
    s.put('end', s.end());
    s.put('after', s.status());
    s.put('graph', s.graph === graph ? 'same' : 'another');
  },
  CB21(s) {
    const graph = s.test.device.createGraph();
    const a = graph.addEmpty();
    s.s1.beginCapture({ mode: s.mode, into: { graph, after: [a] } });
    s.link(s.s1, s.s2);
    s.end(s.s2);
    s.put('end', s.end());
    s.put('after', s.status());
    s.put(
      'use',
      s.number(() => graph.nodes),
    );
  },
  CB22(s) {
    s.put(
      'info',
      s.number(() => s.s1.captureDependencies),
    );
    s.put('after', s.status());
    s.put(
      'replace',
      s.number(() => s.s1.setCaptureDependencies([])),
    );
  },
  CB23(s) {
    s.begin();
    s.k();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    s.put(
      'call',
      s.number(() => s.s2.setCaptureDependencies([])),
    );
    s.finish();
  },
  // A graph that is being captured takes no nodes from elsewhere, so the first two are made before.
  CB24(s) {
    const { device } = s.test;
    const [graph, child] = [device.createGraph(), device.createGraph()];
    child.addEmpty();
    const node = graph.addChild(child, [addEmptyKernel(s, graph)]);
    s.s1.beginCapture({ mode: s.mode, into: { graph } });
    s.put(
      'call',
      s.number(() => s.s1.setCaptureDependencies([node.id])),
    );
    s.k();
    s.finish();
    s.put('kinds', kindsOf(graph));
  },
};
