// `npm run setup`: what `npm start` and `npm test` do first, alone; for images and machines without
// a network later.

import { orExplain, prepare } from './prepare.mjs';

orExplain(() => {
  prepare();
  return 0;
});
