// `npm start`: set up, then serve. Without `--model` the demo model is written (once) and served.
// Further arguments go to `altstream serve`: `npm start -- --model DIR --port 8080`.

import { join } from 'node:path';
import { ensureModel, namesModel } from './demo-model.mjs';
import { orExplain, prepare, root, run } from './prepare.mjs';
import { SetupError } from './requirements.mjs';

const demoName = 'T128-mxfp8';

orExplain(() => {
  prepare();
  const args = process.argv.slice(2);
  const demoFolder = join(root, 'build', 'models', demoName);
  const model = namesModel(args) ? [] : ['--model', ensureModel(demoFolder, writeDemoModel)];
  return run('node', [join(root, 'apps/server/dist/main.js'), 'serve', ...model, ...args]);
});

/** The hash-weight model: a real checkpoint with random weights, so its answers are not sentences. */
function writeDemoModel(folder) {
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
  if (status === 0) return;
  throw new SetupError(
    `writing the demo model to ${folder} failed with exit code ${status}; the lines above say why`,
  );
}
