import type { DoctorReport } from './doctor-report.js';

type Mark = 'ok' | 'no' | '-';
type Row = readonly [mark: Mark, name: string, detail: string, hint?: string | undefined];

/** The report as lines for people: groups, a mark before each finding, the next step below it. */
export function doctorText(report: DoctorReport): string {
  const groups: readonly (readonly [title: string, rows: readonly Row[]])[] = [
    [`cuda-runtime ${report.version} on ${report.platform}`, machine(report)],
    ['addon, in load order', addon(report)],
    ['backends', backends(report)],
    ['for cuda-runtime build', tools(report)],
  ];
  const rows = groups.flatMap(([, members]) => members);
  const width = Math.max(...rows.map(([, name]) => name.length));
  return groups
    .map(([title, members]) => `${title}\n${members.map((row) => line(row, width)).join('')}`)
    .join('\n');
}

function machine({ node, glibc, backends: reports }: DoctorReport): Row[] {
  const isOld = reports.some(({ reason }) => reason === 'NODE_TOO_OLD');
  return [
    [isOld ? 'no' : 'ok', 'Node', `${node.version}, Node-API ${node.napi}`],
    glibc ? ['ok', 'libc', `glibc ${glibc}`] : ['-', 'libc', 'not glibc'],
  ];
}

function addon({ addon: attempts }: DoctorReport): Row[] {
  return attempts.map(({ what, path, outcome, reason }) => {
    if (outcome === 'loaded') return ['ok', what, `loaded ${path}`];
    if (outcome === 'unused') return ['-', what, `not needed: ${path}`];
    const isNeeded = !attempts.some((other) => other.outcome === 'loaded');
    return [isNeeded ? 'no' : '-', what, reason ?? ''];
  });
}

function backends({ addon: attempts, backends: reports, driver, devices }: DoctorReport): Row[] {
  const isLoaded = attempts.some(({ outcome }) => outcome === 'loaded');
  return [
    ...reports.map(({ backend, usable, reason, detail, hint }): Row => {
      // Without an addon both backends have the same long list of what was tried.
      const words =
        isLoaded || attempts.length === 0 ? detail : 'no addon could be loaded, see above';
      return [usable ? 'ok' : 'no', backend, reason ? `${reason}: ${words}` : words, hint];
    }),
    [driver ? 'ok' : '-', 'NVIDIA driver', driver || 'no kernel module is loaded'],
    ...devices.map(({ index, isUsable, detail }): Row => {
      return [isUsable ? 'ok' : 'no', `device ${index}`, detail];
    }),
  ];
}

function tools({ tools: found }: DoctorReport): Row[] {
  return found.map(({ name, isUsable, isRequired, path, detail, hint }) => {
    const place = path && !detail.includes(path) ? ` (${path})` : '';
    return [isUsable ? 'ok' : isRequired ? 'no' : '-', name, `${detail}${place}`, hint];
  });
}

function line([mark, name, detail, hint]: Row, width: number): string {
  const indent = ' '.repeat(width + 8);
  const next = hint ? `${indent}${hint}\n` : '';
  return `  ${mark.padEnd(2)}  ${name.padEnd(width)}  ${detail}\n${next}`;
}
