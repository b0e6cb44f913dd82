import { type Options, Presets, SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import { sizeText } from '../../check/finding.js';
import type { LoadProgress } from '../../worker/engine-link.js';

/** Shows how far loading is. */
export interface ProgressDisplay {
  readonly update: (progress: LoadProgress) => void;
  /** Ends the display; after a load that succeeded the last phase is shown as done. */
  readonly stop: (isLoaded?: boolean) => void;
}

const linesEveryMs = 5000;
/** A shorter time says nothing about speed. */
const leastSpeedMs = 200;

/** Bars on a terminal; elsewhere a log line for each phase, and every five seconds within one. */
export function makeProgress(logger: Logger, isTerminal: boolean): ProgressDisplay {
  return isTerminal ? makeBars() : lineDisplay(logger);
}

/** A bar for each phase, one below the other, on stderr or the stream that is given. */
export function makeBars(stream: NodeJS.WritableStream = process.stderr): ProgressDisplay {
  const options: Options = {
    format: '  {name} {bar} {percentage} % {facts}',
    hideCursor: true,
    stream,
    // Whoever gives a stream wants to see what is written to it.
    noTTYOutput: true,
    notTTYSchedule: 2 ** 30,
  };
  let current: { bar: SingleBar; speed: PhaseSpeed; last: LoadProgress } | undefined;
  const end = (isDone: boolean): void => {
    if (!current) return;
    const { bar, speed, last } = current;
    if (isDone) bar.update(last.total, { facts: speed.doneText(last) });
    bar.stop();
    current = undefined;
  };
  return {
    update: (progress) => {
      const { phase, done, total } = progress;
      if (current?.last.phase !== phase) {
        end(true);
        current = {
          bar: new SingleBar(options, Presets.shades_classic),
          speed: new PhaseSpeed(done),
          last: progress,
        };
        current.bar.start(total, done, { name: phase.padEnd(10), facts: '' });
      }
      current.last = progress;
      current.bar.update(done, { facts: current.speed.text(progress) });
    },
    stop: (isLoaded = false) => end(isLoaded),
  };
}

/** How fast a phase goes, and when it will be over. */
export class PhaseSpeed {
  readonly #first: number;
  readonly #now: () => number;
  readonly #started: number;

  /** @param first what was done when the phase began */
  constructor(first: number, now: () => number = () => performance.now()) {
    this.#first = first;
    this.#now = now;
    this.#started = now();
  }

  /** Bytes a second; undefined for phases without bytes, and before a speed can be told. */
  bytesPerSecond({ phase, done }: LoadProgress): number | undefined {
    const ms = this.#now() - this.#started;
    if (phase !== 'weights' || ms < leastSpeedMs) return undefined;
    return (1000 * (done - this.#first)) / ms;
  }

  /** What stands behind the bar of a phase under way. */
  text(progress: LoadProgress): string {
    const { phase, done, total, note = '' } = progress;
    if (phase !== 'weights') return note;
    const speed = this.bytesPerSecond(progress);
    const parts = [`${sizeText(done)} of ${sizeText(total)}`];
    if (speed !== undefined && speed > 0) {
      parts.push(`${(speed / 1e9).toFixed(2)} GB/s`, `${Math.ceil((total - done) / speed)} s left`);
    }
    return parts.join(', ');
  }

  /** What stands behind the bar of a phase that is over. */
  doneText({ phase, total }: LoadProgress): string {
    const seconds = (this.#now() - this.#started) / 1000;
    const took = `${seconds.toFixed(1)} s`;
    if (phase !== 'weights' || seconds * 1000 < leastSpeedMs) return took;
    const speed = (total - this.#first) / seconds / 1e9;
    return `${sizeText(total)}, ${speed.toFixed(2)} GB/s, ${took}`;
  }
}

function lineDisplay(logger: Logger): ProgressDisplay {
  let last = { phase: '', at: 0, speed: new PhaseSpeed(0) };
  return {
    update: (progress) => {
      const { phase, done, total, note } = progress;
      const now = Date.now();
      const isSame = phase === last.phase;
      if (isSame && now - last.at < linesEveryMs) return;
      last = { phase, at: now, speed: isSame ? last.speed : new PhaseSpeed(done) };
      const speed = last.speed.bytesPerSecond(progress);
      const bytesPerSecond = speed === undefined ? {} : { bytesPerSecond: Math.round(speed) };
      logger.info({ phase, done, total, ...bytesPerSecond, ...(note ? { note } : {}) }, 'loading');
    },
    stop: () => undefined,
  };
}
