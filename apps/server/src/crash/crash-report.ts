import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { arch, platform, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type { ShownSetting } from '../config/print-config.js';
import { safeError } from '../log/safe-error.js';
import { serverVersion } from '../version.js';
import type { FlightRecord } from '../worker/steps/flight-recorder.js';

/** What the process knows of itself when it crashes. */
export interface CrashFacts {
  readonly what: 'the engine died' | 'an error that nobody caught';
  readonly error: unknown;
  readonly settings: readonly ShownSetting[];
  /** Of the server that runs, if it came so far. */
  readonly state: CrashState | undefined;
}

/** Where a server stood. */
export interface CrashState {
  readonly engine: string;
  /** Requests whose answers are not complete. */
  readonly openRequests: number;
  readonly isDraining: boolean;
  /** Seconds since the engine's thread showed that it turns. */
  readonly heartbeatAge: number | null;
  /** What was chosen when the engine started: device, limits, graphs. */
  readonly chosen: Readonly<Record<string, unknown>>;
  /** The last steps, oldest first. */
  readonly steps: readonly FlightRecord[];
}

/** Templates and their arguments may hold an operator's prompt. */
const texts = /^default-chat-template-kwargs$/;

/**
 * Writes what is known of a crash as JSON: error, configuration, the last steps and the pages that
 * they had. No prompt, answer or key is in it, so it can be sent to others.
 *
 * @param folder default: the system's folder for temporary files
 * @returns path of the file, which nobody else can read
 */
export function writeCrashReport(facts: CrashFacts, folder = tmpdir()): string {
  const at = new Date();
  const name = `altstream-crash-${at.toISOString().replaceAll(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.json`;
  const path = join(folder, name);
  const report = {
    what: facts.what,
    at: at.toISOString(),
    error: safeError(facts.error),
    process: {
      server: serverVersion,
      node: process.version,
      system: `${platform()} ${release()} ${arch()}`,
      uptimeSeconds: process.uptime(),
      memory: process.memoryUsage(),
      systemMemoryBytes: totalmem(),
    },
    settings: Object.fromEntries(
      facts.settings.map((setting) => [
        setting.name,
        texts.test(setting.name) ? '…' : setting.text,
      ]),
    ),
    ...facts.state,
  };
  // A file that is there already is nobody's that we know; a link would lead elsewhere.
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  return path;
}
