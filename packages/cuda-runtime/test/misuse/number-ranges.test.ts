import { afterEach, beforeEach, expect, test } from 'vitest';
import { ArgumentError, LaunchConfigError, type Stream, Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

// What a conversion to 32 bits would take for 0 or for something else that is allowed.
const wrapping = [2 ** 32, 2 ** 32 + 1, 2 ** 40, 1e30, Number.NaN, Number.POSITIVE_INFINITY, 0.5];

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;
  let y: Tensor;
  beforeEach(async () => {
    t = await openTestRuntime({ backend });
    s = t.device.createStream({ name: 's' });
    y = Tensor.allocate(t.device, [1], 'i32', { stream: s });
  });
  afterEach(() => t.runtime.dispose());

  test.each(wrapping)('no node of a capture is named by %s', (id) => {
    s.beginCapture();
    s.fill(y, 1);
    expect(() => s.setCaptureDependencies([id])).toThrow(ArgumentError);
    expect(s.captureDependencies).toEqual([0]);
    s.endCapture().dispose();
  });

  test.each([...wrapping, 1])('a node whose id was made %s names none', (id) => {
    using graph = t.device.createGraph();
    const first = graph.addEmpty();
    const second = graph.addFill(y, 1);
    const exec = graph.instantiateSync();
    (first as { id: number }).id = id;
    const calls = [
      () => graph.addEmpty([first]),
      () => graph.addDependency(first, second),
      () => exec.setEnabled(first, false),
    ];
    for (const call of calls) expect(call).toThrow(ArgumentError);
    expect(graph.nodes).toHaveLength(2);
    exec.dispose();
  });

  test.each(wrapping)('a launch of priority %s is refused', (priority) => {
    const launch = { grid: [1], block: [1], priority } as const;
    expect(() => s.launch(t.kernels.empty, launch, { tag: 0 })).toThrow(LaunchConfigError);
  });
});
