import type { ParserFaults } from '@altstream/minimax-m3-chat';
import { Counter, type Registry } from 'prom-client';

/** Counts what was wrong with the markup of answers, by kind. */
export class OutputFaults {
  readonly #counter: Counter;

  constructor(registers: Registry[]) {
    this.#counter = new Counter({
      name: 'altstream_output_faults_total',
      help: 'What was wrong with the markup of answers',
      labelNames: ['fault'],
      registers,
    });
  }

  /** Takes the faults of a finished choice; one without a parser has none. */
  count(faults: Readonly<ParserFaults> | undefined): void {
    for (const [fault, times] of Object.entries(faults ?? {})) {
      if (times > 0) this.#counter.inc({ fault }, times);
    }
  }
}
