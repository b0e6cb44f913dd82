import { writeFileSync } from 'node:fs';
import type { Runtime } from '@altstream/cuda-runtime';
import type { Engine } from '@altstream/engine';
import { ServerError } from '../errors/index.js';
import type { ProfileOptions, ProfileResult } from './messages.js';

const lookEveryMs = 2;

/** Records the runtime's operations while the engine runs, for Perfetto or chrome://tracing. */
export class Profiler {
  readonly #runtime: Runtime | undefined;
  readonly #engine: Engine;
  #options: ProfileOptions | undefined;
  #firstStep = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param runtime undefined for a mock, which has nothing to record */
  constructor(runtime: Runtime | undefined, engine: Engine) {
    this.#runtime = runtime;
    this.#engine = engine;
  }

  /** @throws ServerError `PROFILE_STATE` if one is being recorded */
  start(options: ProfileOptions): void {
    if (this.#options)
      throw new ServerError('PROFILE_STATE', 'a profile is being recorded; stop it');
    if (!this.#runtime) {
      throw new ServerError(
        'PROFILE_STATE',
        'a mock engine (--mock-engine) has no device to record',
      );
    }
    this.#runtime.trace.start();
    this.#options = options;
    this.#firstStep = this.#engine.stats().steps;
    const { steps } = options;
    if (steps === undefined) return;
    this.#timer = setInterval(() => {
      if (this.#engine.stats().steps - this.#firstStep >= steps) this.stop();
    }, lookEveryMs);
  }

  /** Ends it and writes the file. @throws ServerError `PROFILE_STATE` if none is being recorded */
  stop(): ProfileResult {
    const options = this.#options;
    if (!options || !this.#runtime)
      throw new ServerError('PROFILE_STATE', 'no profile is being recorded; start one');
    this.#options = undefined;
    clearInterval(this.#timer);
    const data = this.#runtime.trace.stop();
    writeFileSync(options.file, data.toChromeJson(), { flag: 'wx' });
    const steps = this.#engine.stats().steps - this.#firstStep;
    return { file: options.file, steps, spans: data.spans.length };
  }
}
