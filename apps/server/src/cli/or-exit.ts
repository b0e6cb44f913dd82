import { ExitError } from '../errors/index.js';

/** Runs a command; an `ExitError` becomes one sentence on stderr and its documented exit code. */
export async function orExit(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    process.stderr.write(`altstream: ${error.message}\n`);
    process.exit(error.exitCode);
  }
}
