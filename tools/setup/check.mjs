// Set up, then `pnpm check`.

import { orExplain, prepare, run } from './prepare.mjs';

orExplain(() => {
  prepare();
  return run('pnpm', ['check', ...process.argv.slice(2)]);
});
