import type { TextSeconds } from '../worker/text/text-messages.js';
import { type LostCause, lostCauses } from '../worker/text/text-thread.js';
import type { MetricMaker } from './metric-maker.js';

/** What each text worker did, and what waits for one. */
export class TextMetrics {
  readonly #jobs;
  readonly #seconds;
  readonly #lost;
  readonly #waiting;
  readonly #running;

  /** @param workers how many there may be; their numbers are labels */
  constructor(own: MetricMaker, workers: number) {
    const worker = Array.from({ length: workers }, (_, index) => String(index));
    this.#jobs = own.counter('text_worker_jobs_total', 'Prompts that a text worker prepared', {
      worker,
    });
    this.#seconds = own.counter(
      'text_worker_seconds_total',
      'What a text worker took for the prompts that it prepared',
      { worker },
    );
    this.#lost = own.counter('text_worker_lost_total', 'Text workers that were replaced, and why', {
      worker: [],
      cause: [],
    });
    for (const one of worker) {
      for (const cause of lostCauses) this.#lost.add(0, { worker: one, cause });
    }
    this.#waiting = own.gauge('text_jobs_waiting', 'Prompts that wait for a text worker');
    this.#running = own.gauge('text_jobs_running', 'Prompts that have a text worker');
    this.setLoad({ waiting: 0, running: 0 });
  }

  /** A worker did a job. */
  done(worker: number, { template = 0, tokenize = 0 }: TextSeconds): void {
    this.#jobs.add(1, { worker: String(worker) });
    this.#seconds.add(template + tokenize, { worker: String(worker) });
  }

  /** A worker was given up. */
  lose(worker: number, cause: LostCause): void {
    this.#lost.add(1, { worker: String(worker), cause });
  }

  /** How many jobs have no worker yet, and how many have one. */
  setLoad({ waiting, running }: { readonly waiting: number; readonly running: number }): void {
    this.#waiting.set(waiting);
    this.#running.set(running);
  }
}
