import { CudaRuntimeError } from '../../src/index.js';
import { injectFaults, type SeededRandom } from '../../src/testing/index.js';
import type { TestRuntime } from '../makers/test-kernels.js';
import { type Counts, runSession, type SessionPlan } from './run-session.js';

/**
 * A session on a CPU runtime in which a call fails or the device is lost, at a random moment. The
 * session ends there, with everything in use.
 * @throws Error if the fault did not come out as it should
 */
export async function runInterruptedSession(
  t: TestRuntime,
  plan: SessionPlan,
  random: SeededRandom,
  progress: (counts: Counts) => void,
): Promise<void> {
  const faults = injectFaults(t.runtime);
  const isLost = random.integer(0, 2) === 0;
  const after = random.integer(0, 500);
  faults.dropWakeups(10);
  if (isLost) faults.failKernel('test_accumulate', 700, { after });
  else faults.failCall({ after });
  const error: unknown = await runSession(t, plan, progress).catch((thrown: unknown) => thrown);
  const code = isLost ? 'CRT_DEVICE_LOST' : 'CRT_OOM';
  if (codesOf(error).includes(code)) return progress({ [`interrupted, ${code}`]: 1 });
  if (error === undefined) return progress({ 'ended before its fault': 1 });
  const ended = error instanceof Error ? (error.stack ?? error.message) : String(error);
  throw new Error(`${code} was injected, and the session ended with ${ended}`, { cause: error });
}

// A mistake that is refused in another way than planned has the error as its cause.
function codesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const own = CudaRuntimeError.isInstance(error) ? [error.code] : [];
  return [...own, ...codesOf(error.cause)];
}
