// `npm test`: set up, then every test that needs no GPU. The last line is `N passed, N failed, N
// skipped`. Further arguments go to vitest: `npm test -- packages/engine`.

import { orExplain, prepare, run } from './prepare.mjs';

orExplain(() => {
  prepare();
  return run('pnpm', ['exec', 'vitest', 'run', ...process.argv.slice(2)]);
});
