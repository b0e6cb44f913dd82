// Builds and runs crt_tests under sanitizers: all three, or those named as arguments.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const known = ['thread', 'address', 'undefined'];
const chosen = process.argv.length > 2 ? process.argv.slice(2) : known;

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

for (const sanitizer of chosen) {
  if (!known.includes(sanitizer)) {
    throw new Error(`${sanitizer} is not a sanitizer, expected ${known.join(', ')}`);
  }
  const build = `build/sanitize-${sanitizer}`;
  const options = ['-DCRT_TESTS=ON', '-DCRT_CUDA=OFF', '-DNVCC=OFF', '-DCMAKE_BUILD_TYPE=None'];
  run(
    'cmake',
    '-S',
    '.',
    '-B',
    build,
    ...options,
    '-DCMAKE_CXX_FLAGS=-O1',
    `-DCRT_SANITIZE=${sanitizer}`,
  );
  run('cmake', '--build', build, '--parallel', '2');
  run(`${build}/crt_tests`);
}
