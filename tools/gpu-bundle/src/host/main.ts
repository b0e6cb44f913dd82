// What `run` of a bundle does on a GPU host; in the workspace, `pnpm test:gpu` and
// `pnpm bench:gpu`.

import { fileURLToPath } from 'node:url';
import { bench } from './bench.js';
import { conformance } from './conformance.js';
import { type HostCommand, hostCommand } from './host-command.js';
import { sanitize } from './sanitizer/sanitize.js';
import { soak } from './soak.js';
import { test } from './test.js';

const help = `test [filter…]          tests, with CUDA required (CUDA_RUNTIME_REQUIRE_CUDA=0: without)
bench [filter…]         benches, on each backend that is present
sanitize [filter…]      tests on CUDA under compute-sanitizer: memcheck, then racecheck
                        (--tool memcheck|racecheck: one of them)
conformance             capture semantics on each backend that is present
soak                    a million mixed operations on CUDA (--operations N, --seconds S, --backend cpu)
node script.mjs [args]  a script; it may import @altstream/cuda-runtime and TypeScript files

--out FOLDER            full results; default: $OUT, if that is set
`;
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const commands: Readonly<Record<string, (root: string, command: HostCommand) => Promise<number>>> =
  { test, bench, sanitize, conformance, soak };

try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function run(): Promise<number> {
  const command = hostCommand(process.argv.slice(2), process.env['OUT']);
  const perform = commands[command.name];
  if (perform) return perform(root, command);
  process.stdout.write(help);
  return command.name === 'help' ? 0 : 2;
}
