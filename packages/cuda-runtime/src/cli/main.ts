import { packageRoot, packageVersion } from '../native/package-root.js';
import { buildCommand } from './build-command.js';
import { CommandError, parseCommandLine, usage } from './command-line.js';
import { doctorCommand } from './doctor-command.js';

/** Runs the command that the arguments name. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const line = parseCommandLine(args);
  switch (line.command) {
    case 'help':
      process.stdout.write(usage);
      return 0;
    case 'version':
      process.stdout.write(`${packageVersion(packageRoot())}\n`);
      return 0;
    case 'doctor':
      return doctorCommand(line);
    case 'build':
      return buildCommand(line);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`cuda-runtime: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
