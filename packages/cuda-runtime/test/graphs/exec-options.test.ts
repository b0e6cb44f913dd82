import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KernelParams, LaunchConfig } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import {
  accumulate,
  openTestRuntime,
  readInts,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
  });
  afterAll(() => t.runtime.dispose());

  test.each([undefined, true, false])('useNodePriority %s, with an upload', async (priority) => {
    const urgent = t.device.createStream({ priority: t.device.priorityRange.greatest });
    const s = t.device.createStream({ name: 's' });
    const y = zeros(t, s, 10);
    await s.synchronize();
    const graph = t.device.capture(() => accumulate(t, urgent, y), { stream: urgent });
    const options = { ...(priority !== undefined && { useNodePriority: priority }), upload: s };
    graph.instantiateSync(options).launch(s);
    (await graph.instantiate(options)).launch(s);
    expect(new Set(await readInts(s, y))).toEqual(new Set([2]));
  });

  test('flags that are none are refused', () => {
    const graph = t.device.createGraph();
    for (const name of ['useNodePriority', 'autoFreeOnLaunch']) {
      expect(() => graph.instantiateSync({ [name]: 1 })).toThrow(
        `graph.instantiate: \`${name}\` is 1, expected true or false`,
      );
    }
  });

  describe('an error of a kernel node names the call', () => {
    const one = { grid: [1], block: [1] } as const;
    const mistakes: readonly [string, LaunchConfig, KernelParams][] = [
      ['grid', { ...one, grid: [0] }, {}],
      ['cluster', { ...one, cluster: [2] }, {}],
      ['field', one, { count: 1, value: 1 }],
      ['value', one, { y: 3, count: 1, value: 1 }],
    ];
    test.each(mistakes)('%s', (_, config, params) => {
      const graph = t.device.createGraph();
      const s = t.device.createStream();
      const good = { y: zeros(t, s, 1), count: 1, value: 1 };
      const node = graph.addKernel(t.kernels.fill, one, good);
      const exec = graph.instantiateSync();
      const { fill } = t.kernels;
      const calls = {
        'graph.addKernel': () => graph.addKernel(fill, config, params),
        'graphExec.setKernel': () => exec.setKernel(node, fill, config, params),
        'stream.launch': () => s.launch(fill, config, params),
      };
      for (const [api, call] of Object.entries(calls)) {
        expect(call).toThrow(expect.objectContaining({ api }));
      }
    });
  });
});
