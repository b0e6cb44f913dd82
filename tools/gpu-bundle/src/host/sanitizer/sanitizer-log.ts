/** What compute-sanitizer found in a run. */
export interface SanitizerFindings {
  /** Summaries: a run that ended without one was not checked to its end. */
  readonly summaries: number;
  /** Errors or hazards. */
  readonly findings: number;
  /** The first lines about them. */
  readonly lines: readonly string[];
}

const summary = /(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards? displayed)/g;
// Of a run that was killed: whatever is not the greeting was worth a line.
const record = /^=+ (?!COMPUTE-SANITIZER)\S/m;
const shownLines = 60;

/** Adds up the logs of compute-sanitizer. A log without its summary may hold a finding. */
export function readFindings(logs: readonly string[]): SanitizerFindings {
  const counts = logs.map(countOf);
  return {
    summaries: logs.filter((log) => log.match(summary)).length,
    findings: counts.reduce((sum, count) => sum + count, 0),
    lines: logs
      .filter((_, at) => counts[at] !== 0)
      .flatMap((log) => log.split('\n'))
      .slice(0, shownLines),
  };
}

function countOf(log: string): number {
  const counts = [...log.matchAll(summary)].map(([, count]) => Number(count));
  if (counts.length === 0) return record.test(log) ? 1 : 0;
  return counts.reduce((sum, count) => sum + count, 0);
}
