import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { HostCommand } from './host-command.js';
import { runVitest } from './run-vitest.js';
import { saveResults } from './save-results.js';
import { suiteTable } from './suite-table.js';

/** The suites about the semantics of capture, on each backend that is present. */
export async function conformance(root: string, command: HostCommand): Promise<number> {
  const environment: Record<string, string> = {};
  if (command.out !== undefined) {
    mkdirSync(command.out, { recursive: true });
    environment['CUDA_RUNTIME_CONFORMANCE_OUT'] = resolve(command.out);
  }
  const args = ['--project=cuda-runtime', ...command.flags, 'conformance'];
  const run = runVitest({ root, args, environment });
  await saveResults(command, 'conformance.json', run.suites);
  process.stdout.write(suiteTable(run));
  return run.status;
}
