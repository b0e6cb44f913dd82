// What the machine must have before anything can be installed, each with its remedy.

import { spawnSync } from 'node:child_process';

const minimumNode = [20, 19];

/** A problem of the machine, with the remedy in its message. */
export class SetupError extends Error {}

/** @param {string} version such as `20.20.2` */
export function checkNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor, wantedMinor] = minimumNode;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new SetupError(
    `Node ${version} is too old, expected ${wantedMajor}.${wantedMinor} or newer; install a current Node 20 or 22`,
  );
}

/** @returns the version line of the tool. */
export function findTool(name, why, remedy) {
  const result = spawnSync(name, ['--version'], { encoding: 'utf8' });
  if (result.status === 0) return result.stdout.split('\n', 1)[0];
  throw new SetupError(
    `${name} was not found: ${why}. Install it (${remedy}) and run the command again`,
  );
}

/** Refuses a cmake that cannot read the build files. */
export function checkCmake(versionLine) {
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(versionLine)?.map(Number) ?? [];
  if (major > 3 || (major === 3 && minor >= 24)) return;
  throw new SetupError(
    `"${versionLine}" is too old, expected cmake 3.24 or newer; install a current one, for example with \`pip install cmake\``,
  );
}

/** Finds a C++ compiler as cmake would: $CXX, then c++, g++, clang++. */
export function findCompiler() {
  const candidates = [process.env['CXX'], 'c++', 'g++', 'clang++'].filter((name) => name);
  for (const name of candidates) {
    if (spawnSync(name, ['--version'], { encoding: 'utf8' }).status === 0) return name;
  }
  throw new SetupError(
    `no C++ compiler was found (tried ${candidates.join(', ')}): the native parts need C++20, such as g++ 11 or newer. ` +
      'Install one (apt-get install g++) or name it in the environment variable CXX',
  );
}
