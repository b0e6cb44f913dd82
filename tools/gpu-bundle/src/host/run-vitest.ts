import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One test file of a run. */
export interface SuiteResult {
  /** Below the workspace. */
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** First line of what made it fail. */
  readonly error: string | undefined;
}

/** A run of vitest. */
export interface VitestRun {
  /** 0 if all passed. */
  readonly status: number;
  readonly suites: readonly SuiteResult[];
}

/** How to run vitest. */
export interface VitestOptions {
  readonly root: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Test files at the same time; default 1, since there is one GPU. */
  readonly workers?: number;
  /** What starts it, e.g. compute-sanitizer with its arguments. */
  readonly under?: readonly string[];
}

/** Runs vitest in the workspace or bundle at `root`; its output goes to the terminal. */
export function runVitest({
  root,
  args,
  environment,
  workers = 1,
  under = [],
}: VitestOptions): VitestRun {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-vitest-'));
  const json = join(folder, 'results.json');
  const reporters = ['default', 'json', './tools/check/closing-line-reporter.ts'];
  const command = [
    ...under,
    process.execPath,
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...reporters.map((reporter) => `--reporter=${reporter}`),
    `--outputFile.json=${json}`,
    ...(workers > 1 ? [`--maxWorkers=${workers}`] : ['--no-file-parallelism']),
    ...args,
  ];
  try {
    const { status, error } = spawnSync(command[0] ?? '', command.slice(1), {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...environment },
    });
    if (error) throw new Error(`${command[0]} does not start: ${error.message}`, { cause: error });
    return { status: status ?? 1, suites: readSuites(json, root) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface JsonReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

function readSuites(json: string, root: string): readonly SuiteResult[] {
  let report: JsonReport;
  try {
    report = JSON.parse(readFileSync(json, 'utf8'));
  } catch {
    return []; // vitest ended before it could report, which its status tells
  }
  return report.testResults.map((file) => {
    const count = (status: string) =>
      file.assertionResults.filter((test) => test.status === status).length;
    const [passed, failed] = [count('passed'), count('failed')];
    const messages = file.assertionResults.flatMap((test) => test.failureMessages ?? []);
    const error = [...messages, file.message].find((message) => message !== '');
    return {
      file: file.name.startsWith(root) ? file.name.slice(root.length) : file.name,
      passed,
      failed: failed === 0 && file.status === 'failed' ? 1 : failed,
      skipped: file.assertionResults.length - passed - failed,
      seconds: Math.round((file.endTime - file.startTime) / 10) / 100,
      error: error?.split('\n')[0],
    };
  });
}
