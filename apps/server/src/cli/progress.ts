import { Presets, SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import type { LoadProgress } from '../worker/engine-link.js';

/** Shows how far loading is. */
export interface ProgressDisplay {
  readonly update: (progress: LoadProgress) => void;
  readonly stop: () => void;
}

const linesEveryMs = 5000;

/** A bar on a terminal; elsewhere a log line for each phase, and every five seconds within one. */
export function makeProgress(logger: Logger, isTerminal: boolean): ProgressDisplay {
  return isTerminal ? makeBar() : lineDisplay(logger);
}

/** A bar on stderr. */
export function makeBar(): ProgressDisplay {
  const bar = new SingleBar(
    { format: '  {phase} {bar} {percentage} % {note}', hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  let phase = '';
  return {
    update: ({ phase: current, done, total, note = '' }) => {
      const facts = { phase: current.padEnd(10), note };
      if (current !== phase) bar.start(total, done, facts);
      else bar.update(done, facts);
      phase = current;
    },
    stop: () => bar.stop(),
  };
}

function lineDisplay(logger: Logger): ProgressDisplay {
  let last = { phase: '', at: 0 };
  return {
    update: ({ phase, done, total, note }) => {
      const now = Date.now();
      if (phase === last.phase && now - last.at < linesEveryMs) return;
      last = { phase, at: now };
      logger.info({ phase, done, total, ...(note ? { note } : {}) }, 'loading');
    },
    stop: () => undefined,
  };
}
