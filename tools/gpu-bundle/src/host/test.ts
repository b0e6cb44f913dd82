import type { HostCommand } from './host-command.js';
import { projectArguments } from './projects.js';
import { requiredCuda } from './required-cuda.js';
import { runVitest } from './run-vitest.js';
import { saveResults } from './save-results.js';
import { suiteTable } from './suite-table.js';

/**
 * Every suite, with CUDA required.
 * @throws Error with the probe's reason if there is no usable GPU
 */
export async function test(root: string, command: HostCommand): Promise<number> {
  const run = runVitest({
    root,
    args: [...projectArguments(root), ...command.flags, ...command.filters],
    environment: await requiredCuda(),
  });
  await saveResults(command, 'test.json', run.suites);
  process.stdout.write(suiteTable(run));
  return run.status;
}
