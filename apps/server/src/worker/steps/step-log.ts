import type { StepPlan, StepWatch } from '@altstream/engine';
import type { FlightRecorder } from './flight-recorder.js';

/** Sizes and times of steps, on their way to the metrics. */
export interface StepTimes {
  readonly planned: readonly Pick<StepPlan, 'decodeRows' | 'prefillTokens' | 'scheduleMs'>[];
  readonly computed: readonly { readonly kind: 'decode' | 'prefill'; readonly ms: number }[];
}

/**
 * Notes every step in the recorder, and gathers its times until they are sent with the step's
 * events.
 */
export class StepLog implements StepWatch {
  readonly prefill: StepWatch['prefill'];
  readonly #recorder: FlightRecorder;
  #planned: StepTimes['planned'][number][] = [];
  #computed: StepTimes['computed'][number][] = [];

  /** @param prefill told when a piece of a prompt is about to be computed */
  constructor(recorder: FlightRecorder, prefill: StepWatch['prefill']) {
    this.#recorder = recorder;
    this.prefill = prefill;
  }

  planned(plan: StepPlan): void {
    const { scheduleMs, ...recorded } = plan;
    this.#recorder.add(recorded);
    const { decodeRows, prefillTokens } = plan;
    this.#planned.push({ decodeRows, prefillTokens, scheduleMs });
  }

  computed(kind: 'decode' | 'prefill', ms: number): void {
    this.#computed.push({ kind, ms });
  }

  /** What was gathered since the last time. */
  take(): StepTimes {
    const times = { planned: this.#planned, computed: this.#computed };
    this.#planned = [];
    this.#computed = [];
    return times;
  }
}
