import { open } from '@altstream/cuda-runtime';
import { expect, test } from 'vitest';
import { deviceCopyTBps } from './device-ceiling.js';
import { measureGraph } from './measure-graph.js';

test('times replays of what is captured, and what waits itself as it is', async () => {
  const runtime = await open({ backend: 'cpu', isolated: true });
  const stream = runtime.device().createStream();
  const tensor = stream.tensor([4096], 'u8');
  let calls = 0;
  const fill = () => {
    calls += 1;
    stream.fill(tensor, 7);
  };
  const captured = await measureGraph(stream, fill);
  const own = calls;
  expect(captured.us).toBeGreaterThan(0);
  expect(captured.p95Us).toBeGreaterThanOrEqual(captured.us);
  await stream.synchronize();
  expect(calls, 'replays do not call again').toBe(own);
  const waited = await measureGraph(stream, async () => {
    fill();
    await stream.synchronize();
  });
  expect(waited.us).toBeGreaterThan(0);
  expect(await deviceCopyTBps(stream, 2 ** 16)).toBeGreaterThan(0);
  await runtime.dispose();
});
