import type { DoctorLine } from './command-line.js';
import { doctorReport } from './doctor-report.js';
import { doctorText } from './doctor-text.js';

/** `cuda-runtime doctor`. @returns 0 when the backend that was asked for is usable, else 1 */
export async function doctorCommand({ json, backend }: DoctorLine): Promise<number> {
  const report = await doctorReport();
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : doctorText(report));
  return report.backends.some((found) => found.backend === backend && found.usable) ? 0 : 1;
}
