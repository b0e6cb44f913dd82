// The grammar worker from its sources, for tests that start it by themselves.

import { register } from 'tsx/esm/api';

register();
await import('../../../src/worker/grammar/grammar-worker.ts');
