import { open, Workspace } from '@altstream/cuda-runtime';
import { downloadRaw } from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import { loadMoeKernels } from '../src/index.js';
import type { ExpertsCase } from './cases/experts-gate-up.js';
import { makeExperts } from './makers/experts.js';
import { makeRoutedExperts, uploadInput } from './makers/routed-experts.js';

const testCase: ExpertsCase = {
  name: '',
  tokens: 17,
  k: 2,
  experts: 8,
  hidden: 64,
  intermediate: 96,
  weights: 'mxfp8',
  activations: 'bf16',
};

const schedules = ['serial', 'parallel', 'random', 'adversarial'] as const;

test('two streams share the weights under every schedule, without a race', async () => {
  const results: Uint8Array[] = [];
  for (const schedule of schedules) {
    const cpu = { schedule, raceCheck: true, poison: true };
    const runtime = await open({ backend: 'cpu', isolated: true, cpu });
    await loadMoeKernels(runtime);
    const device = runtime.device();
    const [main, alt] = [device.createStream(), device.createStream()];
    const context = { runtime, device, stream: main };
    const data = makeExperts(testCase);
    const experts = await makeRoutedExperts(context, testCase, data);
    const input = uploadInput(context, testCase, data);
    alt.waitStream(main);
    const outs = [main, alt].map((stream) =>
      experts.forward(input, { stream, allocator: new Workspace(device) }),
    );
    main.waitStream(alt);
    for (const out of outs) results.push(await downloadRaw(main, out));
    await main.synchronize();
    await runtime.dispose();
  }
  for (const result of results) expect(result).toEqual(results[0]);
});

test('two streams in one workspace are caught by the race checker', async () => {
  const cpu = { raceCheck: true };
  const runtime = await open({ backend: 'cpu', isolated: true, cpu });
  await loadMoeKernels(runtime);
  const device = runtime.device();
  const [main, alt] = [device.createStream(), device.createStream()];
  const context = { runtime, device, stream: main };
  const data = makeExperts(testCase);
  const experts = await makeRoutedExperts(context, testCase, data);
  const input = uploadInput(context, testCase, data);
  alt.waitStream(main);
  const allocator = new Workspace(device);
  experts.forward(input, { stream: main, allocator });
  allocator.reset(); // the second call gets the addresses of the first
  experts.forward(input, { stream: alt, allocator });
  main.waitStream(alt);
  await expect(main.synchronize()).rejects.toThrow(/order/);
  await runtime.dispose().catch(() => undefined);
});
