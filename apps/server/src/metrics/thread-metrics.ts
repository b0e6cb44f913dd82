import { type ThreadHealth, watchThread } from '../worker/thread-health.js';
import type { MetricMaker } from './metric-maker.js';

/** How well the threads run: the one of HTTP, and the one of the engine. */
export class ThreadMetrics {
  readonly #lag;
  readonly #gc;
  readonly #gcSeconds = new Map<string, number>();
  readonly #look = watchThread();

  constructor(make: MetricMaker) {
    this.#lag = make.gauge(
      'event_loop_lag_seconds',
      'How late a thread was, 99th percentile since the last scrape',
      ['thread'],
    );
    this.#gc = make.counter(
      'gc_pause_seconds_total',
      'Time that a thread stood still for garbage',
      { thread: ['main', 'engine'] },
    );
  }

  /** Takes over what the engine's thread measured, and looks at this one. */
  setEngine(engine: ThreadHealth): void {
    this.#set('engine', engine);
    this.#set('main', this.#look());
  }

  #set(thread: string, { lagSeconds, gcSeconds }: ThreadHealth): void {
    this.#lag.set(lagSeconds, { thread });
    this.#gc.add(Math.max(0, gcSeconds - (this.#gcSeconds.get(thread) ?? 0)), { thread });
    this.#gcSeconds.set(thread, gcSeconds);
  }
}
