import { spawnSync } from 'node:child_process';
import { CommandError } from './command-line.js';
import type { DoctorReport } from './doctor-report.js';
import type { Variables } from './find-program.js';

/**
 * Loads what was built as programs will: `doctor` in a process of its own, so that an addon that
 * cannot be loaded ends that process and not this one.
 *
 * @throws CommandError when another addon, or none, is loaded there
 */
export function verifyAddon(addon: string, variables: Variables): void {
  const { CUDA_RUNTIME_BINARY: given, ...rest } = variables;
  const [, program = ''] = process.argv;
  const args = [...process.execArgv, program, 'doctor', '--json'];
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: rest,
  });
  const end = `exit code ${status ?? signal}`;
  const report = parsed(stdout);
  if (!report)
    throw new CommandError(`${addon} ends the process that loads it (${end})\n${stderr}`);
  const loaded = report.addon.find(({ outcome }) => outcome === 'loaded');
  if (loaded?.path !== addon) {
    const tried = report.addon.map(({ what, path, reason }) => `  ${what}: ${reason ?? path}`);
    throw new CommandError(`${addon} was built and is not what is loaded:\n${tried.join('\n')}`);
  }
  if (status !== 0) {
    const cpu = report.backends.find(({ backend }) => backend === 'cpu');
    throw new CommandError(`${addon} was loaded, its CPU backend cannot be used: ${cpu?.detail}`);
  }
  if (given) {
    process.stderr.write(
      `cuda-runtime: CUDA_RUNTIME_BINARY is set and wins over what was built: ${given}\n`,
    );
  }
}

function parsed(text: string): DoctorReport | undefined {
  try {
    return JSON.parse(text) as DoctorReport;
  } catch {
    // A process that died prints no report; the caller says so.
    return undefined;
  }
}
