import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/**
 * The folder of temporary files of one run of the tests, and of the processes that they start. All
 * goes with its end; a report of a crash that nobody asked for fails it.
 */
export default function runFolder({ config }: TestProject): () => void {
  const { TMPDIR: folder = '' } = config.env;
  mkdirSync(folder, { recursive: true });
  return () => {
    const reports = readdirSync(folder).filter((name) => /^altstream-crash-.*json$/.test(name));
    rmSync(folder, { recursive: true, force: true });
    if (reports.length === 0) return;
    // An error at this place is shown, and changes nothing.
    process.exitCode = 1;
    const remedy = 'a test that makes a server crash gives it a --crash-dir of its own';
    throw new Error(`crash reports were left: ${reports.join(', ')}; ${remedy}`);
  };
}
