import { printable } from '../../client/printable.js';
import { ClientError, ExitError, exitCodes } from '../../errors/index.js';

/** How shells report a command that Ctrl-C ended. */
export const interruptedExitCode = 130;

/**
 * Runs a command; an error that a person can act on becomes one sentence on stderr and an exit
 * code.
 */
export async function orExit(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === undefined) throw error;
    process.stderr.write(`altstream: ${printable((error as Error).message)}\n`);
    process.exit(exitCode);
  }
}

function exitCodeOf(error: unknown): number | undefined {
  if (error instanceof ExitError) return error.exitCode;
  if (!(error instanceof ClientError)) return undefined;
  if (error.code === 'CLIENT_ABORTED') return interruptedExitCode;
  const isServerFault = error.code === 'CLIENT_SERVER_FAILED' || (error.status ?? 0) >= 500;
  return isServerFault ? exitCodes.engine : exitCodes.usage;
}
