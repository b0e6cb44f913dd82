import type { OpenOptions } from '../../src/index.js';
import type { SeededRandom } from '../../src/testing/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

type Backend = 'cpu' | 'cuda';

/** A runtime of its own with random options, for one session. */
export function openRandomRuntime(backend: Backend, random: SeededRandom): Promise<TestRuntime> {
  const choices: readonly OpenOptions[] = backend === 'cpu' ? cpuChoices(random) : [{}];
  const common: readonly OpenOptions[] = [{}, { guards: false }, { strictEvents: true }];
  const options = { ...pick(common, random), ...pick(choices, random) };
  return openTestRuntime({ ...options, backend, maxPending: 4096 });
}

function cpuChoices(random: SeededRandom): readonly OpenOptions[] {
  const seed = random.integer(1, 1 << 30);
  return [
    { cpu: { schedule: 'random', seed } },
    { cpu: { schedule: 'serial' } },
    { cpu: { schedule: 'adversarial' } },
    { cpu: { poison: true } },
    { cpu: { raceCheck: true } },
    { cpu: { threads: 2, maxThreads: 4 } },
    { cpu: { limitBytes: 1 << 22, poison: true } },
  ];
}

function pick<T>(list: readonly T[], random: SeededRandom): T {
  const value = list[random.integer(0, list.length)];
  if (value === undefined) throw new RangeError('nothing to pick from');
  return value;
}
