import { spawn } from 'node:child_process';

/** What a child process printed, and how it ended. */
export interface ChildResult {
  /** Exit code, or -1 after a signal. */
  readonly code: number;
  /** Standard output and error, as they came. */
  readonly output: string;
}

/** How to run a child process. The environment is complete: nothing is inherited. */
export interface ChildOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Afterwards the child and everything that it started are ended. */
  readonly timeoutMs: number;
}

/** Runs a command with a closed standard input and waits for its end. */
export function runChild(
  command: string,
  args: readonly string[],
  { cwd, environment, timeoutMs }: ChildOptions,
): Promise<ChildResult> {
  return new Promise((resolve, reject) => {
    // A process group of its own, so that a time-out ends the grandchildren too.
    const child = spawn(command, args, {
      cwd,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => {
      output += `\nended after ${timeoutMs} ms`;
      if (child.pid !== undefined) endGroup(child.pid);
      // Whoever left the group may hold the outputs open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, output });
    });
  });
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
