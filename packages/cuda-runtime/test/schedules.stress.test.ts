import { describe, expect, test } from 'vitest';
import type { CpuSchedule } from '../src/index.js';
import { expectedResult, programSize, randomProgram, submit } from './makers/random-program.js';
import { openTestRuntime, readInts, zeros } from './makers/test-kernels.js';

const schedules: readonly CpuSchedule[] = ['serial', 'parallel', 'random', 'adversarial'];
const seeds = Array.from({ length: 12 }, (_, index) => index + 1);

describe.each(schedules)('random programs under the %s schedule', (schedule) => {
  test.each(seeds)('seed %i gives the numbers of one step after the other', async (seed) => {
    const program = randomProgram(seed);
    const expected = expectedResult(program);
    const t = await openTestRuntime({ cpu: { schedule, seed, raceCheck: true, poison: true } });
    const streams = Array.from({ length: programSize.streams }, (_, index) =>
      t.device.createStream({ name: `s${index}` }),
    );
    const [main] = streams;
    if (!main) throw new Error('no stream');
    for (const isCaptured of [false, true]) {
      const buffers = Array.from({ length: programSize.buffers }, () =>
        zeros(t, main, programSize.elements),
      );
      const run = () => submit(t, program, streams, buffers);
      if (isCaptured) t.device.capture(run, { stream: main }).instantiateSync().launch(main);
      else run();
      const results: (readonly number[])[] = [];
      for (const buffer of buffers) results.push(await readInts(main, buffer));
      expect(results, isCaptured ? 'captured' : 'eager').toEqual(expected);
    }
    await t.runtime.dispose();
  });
});
