/** What compute-sanitizer found in all processes of a run. */
export interface SanitizerFindings {
  /** Processes that ended with a summary. */
  readonly processes: number;
  /** Errors or hazards. */
  readonly findings: number;
  /** The first lines about them. */
  readonly lines: readonly string[];
}

const summary = /(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards? displayed)/g;
const shownLines = 60;

/** Adds up the logs of compute-sanitizer, one a process. */
export function readFindings(logs: readonly string[]): SanitizerFindings {
  const counts = logs.flatMap((log) =>
    [...log.matchAll(summary)].map(([, count]) => Number(count)),
  );
  const findings = counts.reduce((sum, count) => sum + count, 0);
  const lines = logs
    .filter((log) => [...log.matchAll(summary)].some(([, count]) => count !== '0'))
    .flatMap((log) => log.split('\n'))
    .slice(0, shownLines);
  return { processes: counts.length, findings, lines };
}
