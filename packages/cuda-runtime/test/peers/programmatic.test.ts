import { expect, test } from 'vitest';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { errorOf, openPeerScene } from '../makers/peer-scene.js';
import { openTestRuntime, readInts, zeros } from '../makers/test-kernels.js';

const config = { grid: [1], block: [1] } as const;
const serialized = { ...config, programmatic: { serialize: true } } as const;

onEachBackend((backend) => {
  test('#55: a kernel whose manifest says that it never waits cannot be a dependent', async () => {
    const t = await openPeerScene({ backend });
    const [x, y] = [zeros(t, t.main, 1), zeros(t, t.main, 1)];
    await t.main.synchronize();
    const first = { x: null, y: x, started_early: null, value: 7, microseconds: 20_000 };
    const refused = () => t.main.launch(t.kernels.pdl_first, serialized, first);
    expect(t.kernels.pdl_first.attributes).toMatchObject({ pdl: { waits: false } });
    expect(errorOf(refused)).toMatchObject({ code: 'CRT_LAUNCH_CONFIG' });
    t.main.beginCapture();
    expect(errorOf(refused)?.message).toContain('wait');
    expect(t.main.captureStatus).toBe('active');
    t.main.launch(t.kernels.pdl_first, config, first);
    const second = { x, y, started_early: null, value: 7, microseconds: 0 };
    t.main.launch(t.kernels.pdl_second, serialized, second);
    const graph = t.main.endCapture();
    expect(graph.edges.map(({ type }) => type)).toEqual(['programmatic']);
    const exec = graph.instantiateSync();
    for (let launch = 0; launch < 5; launch += 1) {
      t.main.fill(x, 0).fill(y, 0);
      exec.launch(t.main);
      expect(await readInts(t.main, y)).toEqual([7]);
    }
    await t.runtime.dispose();
  });
});

test('#55: a kernel that only claims to wait is found when it runs', async () => {
  const t = await openTestRuntime({ cpu: { strictPdl: true, pdl: 'earliest' } });
  const stream = t.device.createStream();
  const [x, y] = [zeros(t, stream, 1), zeros(t, stream, 1)];
  await stream.synchronize();
  const params = { x, y, started_early: null, value: 1, microseconds: 0 };
  stream.launch(t.kernels.pdl_first, config, { ...params, x: null, y: x });
  stream.launch(t.kernels.pdl_no_wait, serialized, params);
  await expect(stream.synchronize()).rejects.toMatchObject({ code: 'CRT_PDL_NO_WAIT' });
  await t.runtime.dispose();
  const counting = await openTestRuntime();
  const other = counting.device.createStream();
  const [a, b] = [zeros(counting, other, 1), zeros(counting, other, 1)];
  const { pdl_first, pdl_no_wait } = counting.kernels;
  other.launch(pdl_first, config, { ...params, x: null, y: a });
  other.launch(pdl_no_wait, serialized, { ...params, x: a, y: b });
  await other.synchronize();
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  expect(counting.runtime.stats()).toMatchObject({
    kernelsWithoutWait: 1,
    kernelWithoutWait: 'test_pdl_no_wait',
  });
  await counting.runtime.dispose();
  await new Promise(setImmediate);
  process.off('warning', note);
  expect(warnings).toMatchObject([
    { code: 'CRT_PDL_NO_WAIT', message: expect.stringContaining('kernel test_pdl_no_wait') },
  ]);
});
