import { expect, test } from 'vitest';
import { type Graph, open, openSync, probe, type Runtime, type Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { longestLateness } from '../makers/event-loop.js';
import { kernelsOverlap } from '../makers/kernels-overlap.js';
import {
  accumulate,
  openTestRuntime,
  spin,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

// A call that waits for the kernel would stop the timer for all of its 300 ms. A machine whose two
// cores do other work stops it for tens of milliseconds.
const kernelMs = 300;
const allowedMs = 100;

onEachBackend((backend) => {
  test('T5: no call but Sync ones and waits stops the event loop behind a long kernel', async () => {
    const t = await openTestRuntime({ backend });
    const stream = t.device.createStream({ name: 'busy' });
    const graph = graphOf(t, stream);
    await warmUp(t, stream, graph);
    const started = performance.now();
    spin(t, stream, kernelMs);
    const behind = t.device.createStream();
    const calls = new CallTimes();
    const late = await longestLateness(async () => {
      await callEverything(t, stream, behind, graph, calls);
      await launchMany(t, stream, calls);
      await stream.synchronize();
    });
    expect(performance.now() - started).toBeGreaterThanOrEqual(kernelMs - 1);
    if (kernelsOverlap)
      expect(late, `calls over 10 ms: ${calls.longer(10) || 'none'}`).toBeLessThan(allowedMs);
    await t.runtime.dispose();
  });

  test('open and probe: a second call gives the same runtime while the first is under way', async () => {
    const [first, second] = await Promise.all([open({ backend }), open({ backend })]);
    expect(second).toBe(first);
    const pending = open({ backend });
    const third = openSync({ backend });
    expect([third, await pending]).toEqual([first, first]);
    const reports = await probe();
    expect(reports.find((report) => report.backend === backend)?.usable).toBe(true);
    for (let count = 0; count < 4; count += 1) {
      expect(() => first.stats()).not.toThrow();
      await first.dispose();
    }
    expect(() => first.stats()).toThrow(/disposed/);
  });

  test('a runtime that is disposed while a module loads refuses it', async () => {
    const t = await openTestRuntime({ backend });
    const { manifest } = t.module;
    const loading = t.runtime.loadModule({
      manifest: `${manifest.replace('/manifest', '/./manifest')}`,
    });
    const [failed] = await Promise.allSettled([loading, t.runtime.dispose()]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'CRT_DISPOSED' } });
  });
});

function graphOf(t: TestRuntime, stream: Stream): Graph {
  const y = zeros(t, stream, 16);
  return t.device.capture(
    () => {
      for (let node = 0; node < 50; node += 1) accumulate(t, stream, y);
    },
    { stream },
  );
}

// What is made once per process, such as the first pinned block, is not what is measured.
async function warmUp(t: TestRuntime, stream: Stream, graph: Graph): Promise<void> {
  using exec = await graph.instantiate();
  exec.launch(stream);
  using host = await t.device.allocHost(64);
  using y = zeros(t, stream, 16);
  stream.copy(y, host, 64);
  await stream.read(y, new Int32Array(16));
  stream.write(y, new Int32Array(16));
  await stream.synchronize();
}

/** Names the call that a stopped event loop waited for. */
class CallTimes {
  readonly #ms = new Map<string, number>();

  of<T>(call: string, body: () => T): T {
    const began = performance.now();
    const result = body();
    this.#ms.set(call, Math.max(performance.now() - began, this.#ms.get(call) ?? 0));
    return result;
  }

  longer(ms: number): string {
    const slow = [...this.#ms].filter(([, took]) => took > ms);
    return slow.map(([call, took]) => `${call} ${took.toFixed(0)} ms`).join(', ');
  }
}

/** Every public call that may not block, on a stream behind a long kernel. */
async function callEverything(
  t: TestRuntime,
  stream: Stream,
  other: Stream,
  graph: Graph,
  calls: CallTimes,
): Promise<void> {
  const { device, runtime } = t;
  const y = zeros(t, stream, 16);
  using host = await calls.of('allocHost', () => device.allocHost(1 << 16));
  calls.of('copy', () => stream.copy(y, host, 64));
  calls.of('fill', () => stream.fill(y, 0));
  calls.of('write', () => stream.write(y, new Int32Array(16)));
  const count = t.module.callback('test_host_count', { calls: host, microseconds: 0n, step: 1 });
  calls.of('host', () => stream.host(count));
  const read = calls.of('read', () => stream.read(y, new Int32Array(16)));
  using exec = await calls.of('instantiate', () => graph.instantiate());
  calls.of('exec.launch', () => exec.launch(stream).launch(stream));
  const timed = calls.of('createEvent', () => device.createEvent({ timing: true }));
  using event = calls.of('record', () => stream.record(timed));
  calls.of('wait', () => other.wait(event).waitStream(stream));
  calls.of('waitStream', () => stream.waitStream(other));
  const notified = new Promise<void>((resolve) => {
    calls.of('notify', () => stream.notify(resolve));
  });
  const waits = calls.of('waits', () => [
    stream.synchronize(),
    device.synchronize(),
    event.done(),
    notified,
    read,
  ]);
  calls.of('queries', () => {
    event.isDone();
    stream.isIdle();
    for (const value of [event.state, stream.pending, stream.captureStatus, stream.captureId]) {
      String(value);
    }
  });
  calls.of('describe', () => runtime.describe());
  calls.of('stats', () => runtime.stats());
  const large = calls.of('alloc', () => device.alloc(1 << 20, { stream }));
  calls.of('buffer.dispose', () => large.dispose());
  calls.of('freeBytes', () => device.freeBytes);
  captureAndBuild(t, stream, calls);
  const brief = calls.of('createStream', () => device.createStream({ priority: -1 }));
  calls.of('stream.dispose', () => brief.dispose());
  calls.of('end with work pending', () => endWithWorkPending(runtime));
  if (kernelsOverlap) expect(event.isDone()).toBe(false);
  // On CUDA loading a module waits for the device, though not on this thread.
  const { manifest } = t.module;
  const again = { manifest: manifest.replace('/manifest', '/./manifest') };
  await calls.of('loadModule', () => runtime.loadModule(again));
  const beside = await calls.of('open', () => open({ backend: runtime.backend, isolated: true }));
  await calls.of('runtime.dispose', () => beside.dispose());
  await calls.of('probe', () => probe());
  calls.of('tensor.dispose', () => y.dispose());
  await Promise.all(waits);
}

/** Captures, builds and changes graphs whose executable runs behind the kernel. */
function captureAndBuild(t: TestRuntime, stream: Stream, calls: CallTimes): void {
  const { device, kernels } = t;
  const [y, z] = [zeros(t, stream, 16), zeros(t, stream, 16)];
  const one = { grid: [1], block: [16] } as const;
  const params = { y, count: 16, factor: 1, x: 1 };
  const captured = calls.of('capture', () => {
    const record = () => void stream.fill(y, 0).copy(z, y).wait(stream.record());
    return device.capture(record, { stream });
  });
  const graph = calls.of('createGraph', () => device.createGraph());
  const [node, fill] = calls.of('add nodes', () => {
    const first = graph.addKernel(kernels.accumulate, one, params);
    graph.addEmpty([graph.addNotify(() => undefined, [first])]);
    graph.addChild(captured, [first]);
    return [first, graph.addFill(y, 0)] as const;
  });
  calls.of('clone', () => graph.clone().dispose());
  // `instantiateSync` may take long and says so; it does not wait for the device either.
  const exec = calls.of('instantiateSync', () => graph.instantiateSync());
  calls.of('upload', () => exec.upload(stream));
  calls.of('launch what was built', () => exec.launch(stream));
  calls.of('setKernel', () => exec.setKernel(node, kernels.accumulate, one, { ...params, x: 2 }));
  calls.of('setFill', () => exec.setFill(fill, y, 1));
  calls.of('setEnabled', () => exec.setEnabled(node, false));
  calls.of('update', () => exec.update(graph));
  calls.of('launch what was changed', () => exec.launch(stream));
  calls.of('pictures', () => [graph.toDot(), graph.toSvg(), graph.toJSON()]);
  calls.of('dispose graphs', () => {
    for (const object of [captured, graph, exec, y, z]) object.dispose();
  });
}

function endWithWorkPending(runtime: Runtime): void {
  const stream = runtime.device().createStream();
  const memory = stream.tensor([1024], 'i32');
  stream.fill(memory, 1);
  stream.dispose();
  memory.dispose();
}

/**
 * 2 000 launches; whoever submits faster than the device works waits for room, without blocking.
 */
async function launchMany(t: TestRuntime, stream: Stream, calls: CallTimes): Promise<void> {
  const y = zeros(t, stream, 1);
  for (let launched = 0; launched < 2000; launched += 1) {
    if (launched % 200 === 0) await calls.of('ready', () => stream.ready(500));
    calls.of('launch', () => accumulate(t, stream, y));
  }
}
