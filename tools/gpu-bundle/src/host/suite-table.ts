import type { SuiteResult, VitestRun } from './run-vitest.js';

/** A line for every file, failed ones with the reason, and the sum last. */
export function suiteTable({ status, suites }: VitestRun): string {
  const width = Math.max(4, ...suites.map(({ file }) => file.length));
  const line = (file: string, ...columns: readonly (string | number)[]) =>
    `${file.padEnd(width)} ${columns.map((column) => String(column).padStart(8)).join('')}`;
  const lines = [...suites]
    .sort((a, b) => a.failed - b.failed || a.file.localeCompare(b.file))
    .flatMap(({ file, passed, failed, skipped, seconds, error }) => [
      line(file, passed, failed, skipped, seconds.toFixed(1)),
      ...(failed > 0 && error ? [`  ${error.slice(0, 160)}`] : []),
    ]);
  const sum = sumOf(suites);
  return [
    '',
    line('file', 'passed', 'failed', 'skipped', 's'),
    ...lines,
    line('sum', sum.passed, sum.failed, sum.skipped, ''),
    suites.length === 0 ? `vitest ended with ${status} and without results` : '',
  ]
    .map((text) => `${text}\n`)
    .join('');
}

/**
 * `N passed, N failed, N skipped` over all passes, as the workspace's reporter ends each of them.
 * What no test tells, such as an error outside of all, counts as failed.
 */
export function closingLine({ status, suites }: VitestRun): string {
  const { passed, failed, skipped } = sumOf(suites);
  return `${passed} passed, ${status === 0 ? failed : Math.max(1, failed)} failed, ${skipped} skipped\n`;
}

function sumOf(suites: readonly SuiteResult[]) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of suites) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  return sum;
}
