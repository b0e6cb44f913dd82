// Says in one line what the native build made, since its own status lines are hidden when all is
// well.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** @param {string} packages folder of the packages @returns {string} */
export function nativeReport(packages) {
  const files = readdirSync(packages).flatMap((name) =>
    filesOf(join(packages, name, 'build/Release')),
  );
  const count = (ending) => files.filter((file) => file.endsWith(ending)).length;
  const fatbins = count('.fatbin');
  const cuda = fatbins > 0 ? `${fatbins} fatbins` : 'no fatbins, since no working nvcc was found';
  return `native: ${count('.node')} addon, ${count('_cpu.so')} CPU libraries, ${cuda}`;
}

function filesOf(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true }).map(String);
}
