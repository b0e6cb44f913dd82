/**
 * Why a binary cannot be loaded here, or `undefined` when it can.
 *
 * @param floor oldest glibc that the binary needs, such as `2.35`, as its package records it
 * @param present this system's glibc; `undefined` on a system with another C library
 */
export function glibcShortfall(floor: string, present: string | undefined): string | undefined {
  if (present !== undefined && isAtLeast(present, floor)) return undefined;
  const here = present === undefined ? 'another C library' : `glibc ${present}`;
  return `LIBC: it needs glibc ${floor} or newer, this system has ${here}`;
}

/** This system's glibc, such as `2.36`; `undefined` where there is none. */
export function glibcVersion(): string | undefined {
  // Otherwise the report looks up the host names of open connections. Older Node has no such
  // switch.
  const reporter: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const before = reporter.excludeNetwork;
  reporter.excludeNetwork = true;
  const { header } = reporter.getReport() as { header: { glibcVersionRuntime?: string } };
  reporter.excludeNetwork = before ?? false;
  return header.glibcVersionRuntime;
}

function isAtLeast(version: string, floor: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = floor.split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
