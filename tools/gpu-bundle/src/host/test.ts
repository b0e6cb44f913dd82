import type { HostCommand } from './host-command.js';
import { projectArguments, projects } from './projects.js';
import { requiredCuda } from './required-cuda.js';
import { runVitest, type VitestRun } from './run-vitest.js';
import { saveResults } from './save-results.js';
import { closingLine, suiteTable } from './suite-table.js';
import {
  chosenFiles,
  isStressTest,
  testFiles,
  vitestFilters,
  withoutStressTests,
} from './test-files.js';

/**
 * Every suite, with CUDA required. Stress tests run when the others are over, each in a process of
 * its own: one may need the memory that the process of another still holds.
 * @throws Error for a filter that chooses nothing, and with the probe's reason if no GPU is usable
 */
export async function test(root: string, command: HostCommand): Promise<number> {
  const files = testFiles(root, projects(root));
  const chosen = chosenFiles(root, files, command.filters);
  const environment = await requiredCuda();
  const run = (...args: readonly string[]) =>
    runVitest({ root, args: [...projectArguments(root), ...command.flags, ...args], environment });
  const stress = chosen.filter(isStressTest);
  // Where the filters choose nothing else, stress tests follow all the same.
  const others = stress.length > 0 ? ['--passWithNoTests'] : [];
  const passes = [
    {
      of: '(tests)',
      ...run(withoutStressTests, ...others, ...vitestFilters(root, files, command.filters)),
    },
    ...stress.map((file) => ({ of: file, ...run(file) })),
  ];
  const whole = sumOf(passes);
  await saveResults(command, 'test.json', whole.suites);
  process.stdout.write(suiteTable(whole));
  process.stdout.write(closingLine(whole));
  return whole.status;
}

/** A pass that ended without results is in it as a file that failed. */
function sumOf(passes: readonly (VitestRun & { readonly of: string })[]): VitestRun {
  const suites = passes.flatMap(({ status, suites, of: file }) => {
    if (status === 0 || suites.length > 0) return suites;
    const error = `vitest ended with ${status} and without results`;
    return [{ file, passed: 0, failed: 1, skipped: 0, seconds: 0, error }];
  });
  return { status: passes.find(({ status }) => status !== 0)?.status ?? 0, suites };
}
