import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Graph, open, type Runtime, type Stream, Tensor } from '../../src/index.js';

let runtime: Runtime;
let s: Stream;
let a: Stream;

beforeEach(async () => {
  runtime = await open({ backend: 'cpu', isolated: true, cpu: { raceCheck: true } });
  [s, a] = [runtime.device().createStream(), runtime.device().createStream()];
});
afterEach(() => runtime.dispose());

/** Two fills of the same bytes that nothing orders. */
function race(): Tensor {
  const t = Tensor.allocate(runtime.device(), [4], 'i32', { stream: s });
  s.fill(t, 1);
  a.fill(t, 2);
  return t;
}

/** The same as two nodes. */
function graphOfFills(): Graph {
  const graph = runtime.device().createGraph();
  const t = Tensor.allocate(runtime.device(), [4], 'i32', { stream: s });
  for (const byte of [1, 2]) graph.addFill(t, byte);
  return graph;
}

describe('whoever waits is told of a race, by the call that was made', () => {
  const waits: Record<string, (t: Tensor) => unknown> = {
    'event.done': () => a.record().done(),
    'event.waitSync': () => a.record().waitSync(),
    'stream.synchronize': () => a.synchronize(),
    'stream.synchronizeSync': () => a.synchronizeSync(),
    'stream.read': (t) => s.read(t, new Int32Array(4)),
    'device.synchronize': () => runtime.device().synchronize(),
    'device.synchronizeSync': () => runtime.device().synchronizeSync(),
    'runtime.checkRaces': () => runtime.checkRaces(),
    'runtime.dispose': () => runtime.dispose(),
  };

  test.each(Object.keys(waits))('%s', async (api) => {
    const t = race();
    const error: unknown = await (async () => waits[api]?.(t))().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CRT_RACE', api });
    expect(String(error)).toContain(`${api}: fill@`);
  });

  test('graph.instantiate', async () => {
    const graph = graphOfFills();
    const api = 'graph.instantiate';
    await expect(graph.instantiate()).rejects.toMatchObject({ code: 'CRT_RACE', api });
    expect(() => graph.instantiateSync()).toThrow(/^graph.instantiate: fill/);
  });
});

test('a race is told once, and the runtime ends all the same', async () => {
  race();
  await delay(20);
  const over = runtime.dispose();
  expect(() => runtime.stats()).toThrow(/disposed/); // within the call
  await expect(over).rejects.toMatchObject({ code: 'CRT_RACE', races: [{}] });
  await runtime.dispose();
});

test('what a query tells is not where a race is reported', async () => {
  race();
  await expect.poll(() => s.isIdle() && a.record().isDone()).toBe(true);
  expect(() => runtime.checkRaces()).toThrow(/nothing orders them/);
});
