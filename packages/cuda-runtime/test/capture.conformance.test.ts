import { afterAll, beforeAll, describe, test } from 'vitest';
import { acrossStreamsRows } from './conformance/across-streams.js';
import { beginAndEndRows } from './conformance/begin-and-end.js';
import { callRows } from './conformance/calls-during-capture.js';
import { capturedEventRows } from './conformance/captured-events.js';
import { invalidationRows } from './conformance/invalidation.js';
import { Scene } from './conformance/scene.js';
import { openTestRuntime, type TestRuntime } from './makers/test-kernels.js';

const rows = [
  ...beginAndEndRows,
  ...callRows,
  ...acrossStreamsRows,
  ...capturedEventRows,
  ...invalidationRows,
];

describe.each([
  { guards: false, title: 'raw, as CUDA answers' },
  { guards: true, title: 'guarded' },
])('stream capture, $title', ({ guards }) => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await openTestRuntime({ guards });
  });
  afterAll(() => runtime.runtime.dispose());

  for (const row of rows) {
    test(`${row.id}: ${row.title}`, async () => {
      const scene = new Scene(runtime, guards);
      await row.run(scene);
      await scene.expectUsable();
    });
  }
});
