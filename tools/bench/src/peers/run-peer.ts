import { spawnSync } from 'node:child_process';

/** What another program takes for the same work on the same device in the same run. */
export interface PeerTimes {
  /** Version, or why there are no numbers. */
  readonly status: string;
  /** Median microseconds by the key that the program gives them. */
  readonly us: Readonly<Record<string, number>>;
}

/**
 * Runs a program whose last line of output is `PeerTimes` as JSON, maybe with more facts. One that
 * does not start or fails gives no numbers, and a status that says why.
 */
export function runPeer(command: string, args: readonly string[]): PeerTimes {
  const { error, status, signal, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error) return missing(`${command} does not start (${error.message})`);
  if (status !== 0) {
    const last = stderr.trim().split('\n').at(-1) ?? '';
    return missing(`${command} ended with ${status ?? signal}: ${last}`);
  }
  const last = stdout.trim().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(last);
  } catch {
    return missing(`${command} printed no JSON last: ${last.slice(0, 200)}`);
  }
}

function missing(why: string): PeerTimes {
  return { status: `missing: ${why}`, us: {} };
}
