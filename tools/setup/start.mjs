// `npm start`: set up, then serve. Without `--model` the demo model is written (once) and served.
// Further arguments go to `altstream serve`: `npm start -- --model DIR --port 8080`.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { orExplain, prepare, root, run } from './prepare.mjs';

const demoName = 'T128-mxfp8';

orExplain(() => {
  prepare();
  const args = process.argv.slice(2);
  const model = args.includes('--model') ? [] : ['--model', demoModel()];
  return run('node', [join(root, 'apps/server/dist/main.js'), 'serve', ...model, ...args]);
});

/** The hash-weight model: a real checkpoint with random weights, so its answers are not sentences. */
function demoModel() {
  const folder = join(root, 'build', 'models', demoName);
  if (existsSync(join(folder, 'config.json'))) return folder;
  const writer = join(root, 'tools/hash-checkpoint/src/main.ts');
  const status = run('pnpm', [
    'exec',
    'tsx',
    '--conditions=@altstream/source',
    writer,
    '--model',
    'T128',
    '--mxfp8',
    '--out',
    folder,
  ]);
  if (status !== 0) throw new Error(`writing the demo model failed with exit code ${status}`);
  return folder;
}
