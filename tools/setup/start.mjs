// `npm start`: set up unless that was done, then `altstream serve`, which takes the demo model
// unless the arguments or ALTSTREAM_MODEL name another: `npm start -- --model DIR --port 8080`.

import { join } from 'node:path';
import { isBuilt } from './build-stamp.mjs';
import { orExplain, prepare, root, run } from './prepare.mjs';

orExplain(() => {
  if (isBuilt(root)) process.stderr.write('altstream: nothing has changed since it was built\n');
  else prepare();
  return run('node', [join(root, 'apps/server/dist/main.js'), 'serve', ...process.argv.slice(2)]);
});
