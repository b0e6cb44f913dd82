// `npm start`: set up, then `altstream serve`, which takes the demo model unless the arguments or
// ALTSTREAM_MODEL name another: `npm start -- --model DIR --port 8080`.

import { join } from 'node:path';
import { orExplain, prepare, root, run } from './prepare.mjs';

orExplain(() => {
  prepare();
  return run('node', [join(root, 'apps/server/dist/main.js'), 'serve', ...process.argv.slice(2)]);
});
