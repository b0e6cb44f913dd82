import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints `N passed, N failed, N skipped` as the very last line, after every other reporter and
 * after the coverage table. A run that never ended, an import error, a failed hook or an unhandled
 * rejection each count as failed, so the line cannot look better than the run was.
 */
export default class ClosingLineReporter implements Reporter {
  #tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  #ended = false;

  onInit(): void {
    process.once('exit', () => {
      if (!this.#ended) this.#tally.failed += 1;
      const { passed, failed, skipped } = this.#tally;
      writeSync(1, `${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: string,
  ): void {
    const tally: Tally = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) countModule(module, tally);
    if (reason !== 'passed' && tally.failed === 0) tally.failed = 1;
    this.#tally = tally;
    this.#ended = true;
  }
}

function countModule(module: TestModule, tally: Tally): void {
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    tally[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
  }
  for (const suite of module.children.allSuites()) tally.failed += suite.errors().length;
  tally.failed += module.errors().length;
}
