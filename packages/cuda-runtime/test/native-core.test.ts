import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { buildTests, whyUnavailable } from './sanitizers/build-tests.mjs';

const run = promisify(execFile);

/** The output of a program; when it fails, the error says all that it printed. */
async function output(command: string, ...args: string[]): Promise<string> {
  try {
    return (await run(command, args, { maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`, { cause: error });
  }
}

// The addon that the other tests load is the plain build, so these two need no third one.
describe.each(['address,undefined', 'thread'])('the C++ tests under sanitizer %s', (sanitizer) => {
  const reason = whyUnavailable(sanitizer);
  const title = reason === undefined ? 'pass' : `cannot run here: ${reason}`;

  test.skipIf(reason !== undefined)(title, { timeout: 900_000 }, async () => {
    const program = buildTests(sanitizer);
    const report = await output(program);
    const [, passed, failed] = /(\d+) passed, (\d+) failed\n$/.exec(report) ?? [];
    process.stdout.write(`crt_tests, ${sanitizer}: ${passed} passed, ${failed} failed\n`);
    expect(Number(failed)).toBe(0);
    expect(Number(passed)).toBe(report.match(/^ok /gm)?.length);
    expect(Number(passed)).toBeGreaterThanOrEqual(48);
    await output(program, '--exit-while-busy');
  });
});
