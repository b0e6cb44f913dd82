// Builds the C++ tests of the core and the CPU backend, plain or under sanitizers.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const known = ['none', 'thread', 'address', 'undefined', 'address,undefined'];

/** Runs a command; when it fails, the error says all that it printed. */
function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (error) throw error;
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: exit code ${status}\n${stdout}\n${stderr}`);
}

/** Builds crt_tests in a folder of its own; returns the path of the program. */
export function buildTests(sanitizer) {
  if (!known.includes(sanitizer)) {
    throw new Error(`${sanitizer} is not a sanitizer, expected ${known.join(', ')}`);
  }
  const build = `build/tests-${sanitizer.replace(',', '-')}`;
  // Optimised a little: half the build time of -O2, and the random programs stay quick.
  const options = ['-DCRT_TESTS=ON', '-DCRT_CUDA=OFF', '-DNVCC=OFF', '-DCMAKE_BUILD_TYPE=None'];
  const flags = ['-DCMAKE_CXX_FLAGS=-O1', `-DCRT_SANITIZE=${sanitizer}`];
  run('cmake', ['-S', '.', '-B', build, ...options, ...flags]);
  run('cmake', ['--build', build, '--parallel', '2']);
  return join(root, build, 'crt_tests');
}

/** Why a program with this sanitizer cannot be made or run here; undefined: it can. */
export function whyUnavailable(sanitizer) {
  const folder = mkdtempSync(join(tmpdir(), 'crt-sanitizer-'));
  try {
    const source = join(folder, 'probe.cpp');
    writeFileSync(
      source,
      '#include <thread>\nint main() { std::thread t([] {}); t.join(); return 0; }\n',
    );
    const program = join(folder, 'probe');
    const compiler = process.env.CXX ?? 'c++';
    const flags = ['-std=c++20', `-fsanitize=${sanitizer}`, '-pthread'];
    for (const [command, ...args] of [[compiler, ...flags, source, '-o', program], [program]]) {
      const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' });
      if (error) return `${command}: ${error.message}`;
      if (status !== 0) return `${command} ended with ${status}: ${stderr.trim().slice(0, 300)}`;
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
