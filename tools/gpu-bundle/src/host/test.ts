import type { HostCommand } from './host-command.js';
import { projectArguments, projects } from './projects.js';
import { requiredCuda } from './required-cuda.js';
import { runVitest, type VitestRun } from './run-vitest.js';
import { saveResults } from './save-results.js';
import { closingLine, suiteTable } from './suite-table.js';
import { chosenFiles, isStressTest, testFiles, withoutStressTests } from './test-files.js';

/**
 * Every suite, with CUDA required. Stress tests run when the others are over, one file after another.
 * @throws Error with the probe's reason if there is no usable GPU
 */
export async function test(root: string, command: HostCommand): Promise<number> {
  const environment = await requiredCuda();
  const run = (...args: readonly string[]) =>
    runVitest({ root, args: [...projectArguments(root), ...command.flags, ...args], environment });
  const chosen = chosenFiles(root, testFiles(root, projects(root)), command.filters);
  const stress = chosen.filter(isStressTest);
  // Where the filters choose nothing else, there is a second pass all the same.
  const others = stress.length > 0 ? ['--passWithNoTests'] : [];
  const passes = [run(withoutStressTests, ...others, ...command.filters)];
  if (stress.length > 0) passes.push(run(...stress));
  const whole = sumOf(passes);
  await saveResults(command, 'test.json', whole.suites);
  process.stdout.write(suiteTable(whole));
  process.stdout.write(closingLine(whole));
  return whole.status;
}

/** A pass that ended without results is in it as a file that failed. */
function sumOf(passes: readonly VitestRun[]): VitestRun {
  const suites = passes.flatMap(({ status, suites }, index) => {
    if (status === 0 || suites.length > 0) return suites;
    const file = index === 0 ? '(tests)' : '(stress tests)';
    const error = `vitest ended with ${status} and without results`;
    return [{ file, passed: 0, failed: 1, skipped: 0, seconds: 0, error }];
  });
  return { status: passes.find(({ status }) => status !== 0)?.status ?? 0, suites };
}
