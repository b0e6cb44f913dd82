import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const build = `${root}build/native-tests`;

// Optimised a little: half the build time of -O2, and the random programs stay quick.
const options = ['-DCRT_TESTS=ON', '-DCRT_CUDA=OFF', '-DNVCC=OFF', '-DCMAKE_BUILD_TYPE=None'];
const flags = '-DCMAKE_CXX_FLAGS=-O1';

/** The output of a command; when it fails, the error says all that it printed. */
async function output(command: string, ...args: string[]): Promise<string> {
  try {
    return (await run(command, args, { cwd: root, maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`, { cause: error });
  }
}

test('the C++ tests of the core and the CPU backend pass', { timeout: 600_000 }, async () => {
  await output('cmake', '-S', root, '-B', build, ...options, flags);
  await output('cmake', '--build', build, '--parallel', '2');
  const report = await output(`${build}/crt_tests`);
  const [, passed, failed] = /(\d+) passed, (\d+) failed\n$/.exec(report) ?? [];
  process.stdout.write(`crt_tests: ${passed} passed, ${failed} failed\n`);
  expect(Number(failed)).toBe(0);
  expect(Number(passed)).toBe(report.match(/^ok /gm)?.length);
  expect(Number(passed)).toBeGreaterThanOrEqual(42);
});
