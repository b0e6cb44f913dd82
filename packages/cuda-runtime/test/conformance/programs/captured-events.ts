import type { Event, GraphExec } from '../../../src/index.js';
import { kindsOf, type Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CX20–CX28: stale and external events. */
export const capturedEvents: Programs = {
  CX20(s) {
    const [event, other] = stale(s);
    s.put(
      'query',
      s.number(() => event.isDone()),
    );
    s.put(
      'synchronise',
      s.number(() => event.waitSync()),
    );
    s.put(
      'elapsed',
      s.number(() => s.elapsed(event, other)),
    );
    s.put(
      'wait',
      s.number(() => s.s3.wait(event)),
    );
    s.put('after3', s.status(s.s3));
  },
  async CX21(s) {
    const [event] = stale(s);
    if (s.is('destroy'))
      return s.put(
        'call',
        s.number(() => event.dispose()),
      );
    s.put(
      'call',
      s.number(() => s.s3.record(event)),
    );
    await s.s3.synchronize();
    s.put(
      'query',
      s.number(() => event.isDone()),
    );
  },
  CX22(s) {
    const [event] = stale(s);
    s.during(() => s.s1.wait(event));
  },
  CX23(s) {
    s.begin();
    s.put(
      'record',
      s.number(() => s.s1.record(s.event(), { external: true })),
    );
    s.put(
      'wait',
      s.number(() => s.s1.wait(s.event(), { external: true })),
    );
    s.finish();
    s.put('kinds', kindsOf(s.graph));
  },
  CX24(s) {
    const event = s.event();
    s.put(
      'record',
      s.number(() => s.s1.record(event, { external: true })),
    );
    s.put(
      'wait',
      s.number(() => s.s1.wait(event, { external: true })),
    );
  },
  async CX25(s) {
    const event = s.event();
    s.begin();
    s.put(
      'call',
      s.number(() => s.s1.wait(event, { external: true })),
    );
    s.k();
    s.finish();
    s.launch();
    await s.s1.synchronize();
    s.put('replay', 0);
  },
  async CX26(s) {
    const [first, second] = [s.event(true), s.event(true)];
    s.begin();
    s.s1.record(first, { external: true });
    s.spin(s.s1, 50);
    s.s1.record(second, { external: true });
    s.put('end', s.end());
    s.put(
      'before',
      s.number(() => s.elapsed(first, second)),
    );
    s.launch();
    await s.s1.synchronize();
    const milliseconds = s.elapsed(first, second);
    s.put('elapsed', milliseconds >= 49 && milliseconds < 10_000 ? 'a time' : milliseconds);
  },
  async CX27(s) {
    const event = s.event();
    externalWait(s, event).launch(s.s1);
    s.spin(s.s2, 400);
    s.s2.record(event);
    await s.s1.synchronize();
    s.put('waits', event.isDone() ? 'yes' : 'no');
  },
  async CX28(s) {
    const event = s.event();
    const executable = externalWait(s, event);
    s.spin(s.s2, 200);
    s.s2.record(event);
    executable.launch(s.s1);
    await s.s1.synchronize();
    s.put('waits', event.isDone() ? 'yes' : 'no');
  },
};

// Two events of a capture that is over.
function stale(s: Scene): readonly [Event, Event] {
  const events = [s.event(true), s.event(true)] as const;
  s.forkAndJoin();
  for (const event of events) s.s1.record(event);
  if (s.is('after an invalidation')) s.end(s.s2);
  s.end();
  if (s.is('after the graph was destroyed')) s.graph.dispose();
  return events;
}

function externalWait(s: Scene, event: Event): GraphExec {
  s.begin();
  s.s1.wait(event, { external: true });
  s.k();
  s.end();
  return s.graph.instantiateSync();
}
