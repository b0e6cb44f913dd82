import type { Logger } from 'pino';
import { knowsThreadTimes } from '../worker/threads/thread-time.js';

/**
 * Says, once at the start, that limits of threads go by the clock here: on a machine that is busy
 * with other things a grammar or a template may then be refused for what those took.
 */
export function warnOfClocks(logger: Pick<Logger, 'warn'>, isKnown = knowsThreadTimes()): void {
  if (isKnown) return;
  logger.warn(
    'this system does not tell how long a thread computed (schedstat): grammars and templates are limited by the clock',
  );
}
