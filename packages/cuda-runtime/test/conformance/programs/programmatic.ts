import type { LaunchConfig, Stream } from '../../../src/index.js';
import { zeros } from '../../makers/test-kernels.js';
import { edgesOf, type Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CP that captures can play. */
export const programmatic: Programs = {
  CP01(s) {
    const { first, second } = kernels(s);
    s.begin();
    first(s.s1);
    second(s.s1);
    putEnd(s);
  },
  CP02(s) {
    const { first, second } = kernels(s);
    s.begin();
    first(s.s1);
    second(s.s1);
    s.k();
    second(s.s1);
    putEnd(s);
  },
  CP03(s) {
    const { second, x } = kernels(s);
    s.begin();
    if (s.is('before')) s.s1.fill(x, 0);
    second(s.s1);
    if (s.is('after')) s.s1.fill(x, 0);
    putEnd(s);
  },
  CP04(s) {
    const { first, second } = kernels(s);
    s.begin();
    const event = s.test.device.createEvent();
    first(s.s1, { event });
    s.s2.wait(event);
    second(s.s2);
    s.s1.waitStream(s.s2);
    putEnd(s);
  },
  CP05(s) {
    const { first, x } = kernels(s);
    s.begin();
    const event = s.test.device.createEvent();
    first(s.s1, { event });
    s.s2.wait(event);
    s.put(
      'call',
      s.number(() => s.s2.fill(x, 0)),
    );
    s.s1.waitStream(s.s2);
    putEnd(s);
    s.put(
      'instantiate',
      s.number(() => s.graph.instantiateSync()),
    );
    s.put(
      'launch',
      s.number(() => s.launch()),
    );
  },
  CP06(s) {
    const { first } = kernels(s);
    s.begin();
    const completionEvent = s.test.device.createEvent();
    first(s.s1, { completionEvent });
    s.s2.wait(completionEvent);
    s.k(s.s2);
    s.s1.waitStream(s.s2);
    putEnd(s);
  },
  CP07(s) {
    const { first } = kernels(s);
    s.begin();
    const event = s.test.device.createEvent({ timing: true });
    s.put(
      'call',
      s.number(() => first(s.s1, { event })),
    );
    s.put('after', s.status());
    s.put('end', s.end());
  },
  CP08(s) {
    const { graph, a, b, fill } = loose(s);
    const programmatic = { type: 'programmatic' } as const;
    s.put(
      'call',
      s.number(() => {
        if (s.is('completion port')) {
          return graph.addDependency(a, b, { ...programmatic, port: 'completion' });
        }
        if (s.is('from a fill')) return graph.addDependency(fill, b, programmatic);
        if (s.is('to a fill')) return graph.addDependency(a, fill, programmatic);
        if (s.is('second edge of another type')) graph.addDependency(a, b);
        return graph.addDependency(a, b, programmatic);
      }),
    );
  },
  CP10(s) {
    const { graph, a, b } = loose(s);
    graph.addDependency(a, b, { type: 'programmatic' });
    const clone = graph.clone();
    s.put('call', 0);
    s.put('edges', edgesOf(clone));
  },
  CP11(s) {
    forkAndJoin(s);
    putEnd(s);
  },
  CP12(s) {
    const { second } = forkAndJoin(s);
    second(s.s1);
    putEnd(s);
  },
};

// One kernel, then a serialising one on each of two streams, then the join.
function forkAndJoin(s: Scene) {
  const { first, second } = kernels(s);
  s.begin();
  first(s.s1);
  s.s2.waitStream(s.s1);
  second(s.s2);
  second(s.s1);
  s.s1.waitStream(s.s2);
  return { second };
}

// a, b and a fill without edges.
function loose(s: Scene) {
  const [x, y] = [zeros(s.test, s.s1, 1), zeros(s.test, s.s1, 1)];
  const params = { x, y, started_early: null, value: 1, microseconds: 0 };
  const config = { grid: [1], block: [1] } as const;
  const graph = s.test.device.createGraph();
  const a = graph.addKernel(s.test.kernels.pdl_first, config, params);
  const b = graph.addKernel(s.test.kernels.pdl_second, config, params);
  return { graph, a, b, fill: graph.addFill(x, 0) };
}

// a lets its successor start early; b waits on the device for a.
function kernels(s: Scene) {
  const [x, y] = [zeros(s.test, s.s1, 1), zeros(s.test, s.s1, 1)];
  const { pdl_first: a, pdl_second: b } = s.test.kernels;
  const params = { x, y, started_early: null, value: 1, microseconds: 0 };
  const first = (stream: Stream, programmatic: LaunchConfig['programmatic'] = {}) =>
    stream.launch(a, { grid: [1], block: [1], programmatic }, { ...params, x: y, y: x });
  const second = (stream: Stream) => {
    const config = { grid: [1], block: [1], programmatic: { serialize: true } } as const;
    stream.launch(b, config, params);
  };
  return { first, second, x };
}

function putEnd(s: Scene): void {
  s.put('end', s.end());
  s.put('edges', edgesOf(s.graph));
}
