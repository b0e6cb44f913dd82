// Builds and runs crt_tests under sanitizers: `node test/sanitizers/sanitize.mjs thread`, one or
// several of thread, address, undefined, and address,undefined in one build. Without arguments the
// two that CI runs.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildTests, whyUnavailable } from './build-tests.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const chosen = process.argv.length > 2 ? process.argv.slice(2) : ['thread', 'address,undefined'];

for (const sanitizer of chosen) {
  const reason = whyUnavailable(sanitizer);
  if (reason !== undefined) throw new Error(`${sanitizer} does not work here: ${reason}`);
  const program = buildTests(sanitizer);
  for (const argument of [[], ['--exit-while-busy']]) {
    const { status, error } = spawnSync(program, argument, { cwd: root, stdio: 'inherit' });
    if (error) throw error;
    if (status !== 0) process.exit(status ?? 1);
  }
}
