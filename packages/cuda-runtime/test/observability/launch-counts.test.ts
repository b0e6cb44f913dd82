import { afterEach, beforeEach, expect, test } from 'vitest';
import { ArgumentError, type LaunchKind } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { accumulate, openTestRuntime, type TestRuntime, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeEach(async () => {
    t = await openTestRuntime({ backend });
  });
  afterEach(() => t.runtime.dispose());

  /** What `submit` adds to the counts; kinds that it adds nothing to are left out. */
  const added = (submit: () => void): Partial<Record<LaunchKind, number>> => {
    const before = t.runtime.stats();
    submit();
    const after = t.runtime.stats();
    const kinds = Object.keys(after.launches) as LaunchKind[];
    const gains = kinds.map(
      (kind) => [kind, after.launches[kind] - before.launches[kind]] as const,
    );
    const sum = gains.reduce((total, [, gain]) => total + gain, 0);
    expect(after.operations - before.operations).toBe(sum);
    expect(after.replays - before.replays).toBe(after.launches.graph - before.launches.graph);
    return Object.fromEntries(gains.filter(([, gain]) => gain !== 0));
  };

  test('launches are counted by kind, on every stream', async () => {
    const [main, alt] = [t.runtime.currentStream(), t.device.createStream()];
    const y = zeros(t, main, 4);
    const host = t.device.allocHostSync(16);
    const calls = t.module.callback('test_host_count', { calls: host, microseconds: 0, step: 1 });
    let reading: Promise<void> | undefined;
    const gains = added(() => {
      for (const stream of [main, alt, main]) accumulate(t, stream, y);
      main
        .fill(y, 0)
        .copy(y, host)
        .copy(host, y)
        .write(y, Int32Array.of(1, 2, 3, 4));
      reading = main.read(y, new Int32Array(4));
      main.host(calls).notify(() => undefined);
      alt.waitStream(main);
    });
    const one = { fill: 1, write: 1, read: 1, host: 1, notify: 1 };
    expect(gains).toEqual({ ...one, kernel: 3, copy: 2 });
    await reading;
    await t.device.synchronize();
    for (const object of [y, host, alt]) object.dispose();
  });

  test('a graph counts when it is launched, as one; capturing it and what is refused do not', () => {
    const s = t.device.createStream();
    const y = zeros(t, s, 4);
    const capture = () =>
      t.device.capture(
        () => {
          for (let node = 0; node < 10; node += 1) accumulate(t, s, y);
        },
        { stream: s },
      );
    expect(added(() => capture().dispose())).toEqual({});
    const graph = capture();
    const exec = graph.instantiateSync();
    expect(added(() => exec.launch(s).launch(s))).toEqual({ graph: 2 });
    expect(added(() => expect(() => s.fill(y, 0, 1000)).toThrow(ArgumentError))).toEqual({});
    for (const object of [exec, graph, y, s]) object.dispose();
  });
});
