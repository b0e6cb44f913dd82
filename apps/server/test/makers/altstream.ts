import { execFile } from 'node:child_process';
import { altstreamMain } from './serving.js';

/** What a run of the command printed, and how it ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const mostOutputBytes = 2 ** 26;

/** Runs `altstream` to its end. */
export function altstream(...args: readonly string[]): Promise<CommandResult> {
  return altstreamPiped('', ...args);
}

/** Runs `altstream` to its end, with this as its whole input. */
export function altstreamPiped(
  input: string | Buffer,
  ...args: readonly string[]
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { maxBuffer: mostOutputBytes };
    const command = [altstreamMain, ...args];
    const child = execFile(process.execPath, command, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}
