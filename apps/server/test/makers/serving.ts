import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from './wait-for.js';

/** The built command, as it is installed. */
export const altstreamMain = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** A server process that is ready. */
export interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  /** Everything that it printed so far. */
  output(): string;
  /** Ends it by SIGTERM and waits; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** Loading takes a second or two; a machine that is busy with other tests takes longer. */
const startWithinMs = 50_000;

/** Starts `altstream serve` on a free loopback port and waits for its banner. */
export async function startServing(...args: readonly string[]): Promise<Serving> {
  const crashes = join(tmpdir(), `altstream-crashes-${randomUUID()}`);
  const child = spawn(process.execPath, [altstreamMain, 'serve', '--port', '0', ...args], {
    env: { ...process.env, ALTSTREAM_CRASH_DIR: crashes },
  });
  child.on('exit', () => rmSync(crashes, { recursive: true, force: true }));
  let output = '';
  const collect = (chunk: unknown): void => {
    output += String(chunk);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  await waitFor(() => {
    if (child.exitCode !== null) throw new Error(`serve ended: ${output}`);
    return /Altstream serves/.test(output);
  }, startWithinMs).catch((error: Error) => {
    child.kill('SIGKILL');
    throw new Error(`${error.message}\n${output}`);
  });
  const stop = async (): Promise<number | null> => {
    if (child.exitCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    return child.exitCode;
  };
  return {
    child,
    url: /(https?:\/\/[\d.:]+)\/v1/.exec(output)?.[1] ?? '',
    output: () => output,
    stop,
  };
}
