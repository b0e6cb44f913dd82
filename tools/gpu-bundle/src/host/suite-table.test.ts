import { expect, test } from 'vitest';
import { closingLine } from './suite-table.js';

const suite = { file: 'a', passed: 3, failed: 0, skipped: 1, seconds: 1, error: undefined };

test.each([
  [0, [suite, { ...suite, passed: 4 }], '7 passed, 0 failed, 2 skipped\n'],
  [1, [suite, { ...suite, failed: 2 }], '6 passed, 2 failed, 2 skipped\n'],
  [1, [suite], '3 passed, 1 failed, 1 skipped\n'],
  [1, [], '0 passed, 1 failed, 0 skipped\n'],
])('after a status of %d the closing line adds up, and is not better than the run', (...row) => {
  const [status, suites, line] = row;
  expect(closingLine({ status, suites })).toBe(line);
});
