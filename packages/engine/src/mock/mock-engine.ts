import { Engine } from '../engine.js';
import { type EngineOptions, settleOptions } from '../engine-options.js';
import { ParameterError } from '../errors/index.js';
import type { ModelFacts } from '../model.js';
import { totalOfShare } from '../pages/share.js';
import { echoPrompt, type MockAnswer } from './mock-answer.js';
import { type MockFault, MockFaults } from './mock-faults.js';
import { MockDecode, MockLine, MockPrefill } from './mock-steps.js';

type Needless = 'model' | 'memoryFraction' | 'graphSizes';

/** How a mock engine is made: as an engine, with a script and times in place of a model. */
export interface MockEngineOptions extends Omit<EngineOptions, Needless> {
  /** Ids that prompts and answers may have; default 256. */
  readonly vocabSize?: number | undefined;
  /** Longest sequence of the model, in tokens; default 4096. */
  readonly maxPositions?: number | undefined;
  /** Tokens of a page; default 16. */
  readonly pageTokens?: number | undefined;
  /** The tokens of each answer; default `echoPrompt`. */
  readonly answer?: MockAnswer | undefined;
  /** Milliseconds of a decode step; default 0. */
  readonly decodeMs?: number | undefined;
  /** Milliseconds of a prompt step for each of its tokens; default 0. */
  readonly prefillMsPerToken?: number | undefined;
  /** What goes wrong; more can be planted later. */
  readonly faults?: readonly MockFault[] | undefined;
}

/**
 * An engine without a model and without a device, for tests and for measuring what is around an
 * engine: steps take as long as is said, tokens come from a script, and faults at chosen steps. All
 * else is the engine's own: step loop, scheduler, pages, prefix cache, ledger, stop conditions,
 * deadlines, back-pressure. Sampling parameters, penalties and biases change no script; where a
 * grammar forbids what it says, the lowest id that may come takes its place. Few `pages` force
 * preemptions.
 */
export class MockEngine extends Engine {
  readonly model: ModelFacts;
  readonly #faults: MockFaults;

  private constructor(given: MockEngineOptions) {
    const { vocabSize = 256, maxPositions = 4096, pageTokens = 16, answer = echoPrompt } = given;
    const { decodeMs = 0, prefillMsPerToken = 0, faults = [], ...options } = given;
    const describe = () => ({ model: 'mock', decodeMs, prefillMsPerToken });
    const model = {
      vocabSize: positive('vocabSize', vocabSize),
      maxPositions: positive('maxPositions', maxPositions),
      pageTokens: positive('pageTokens', pageTokens),
      pageBytes: 0,
      describe,
    };
    if (!Array.isArray(faults)) {
      const expected = 'a list of faults';
      throw new ParameterError({ parameter: 'faults', expected, received: faults });
    }
    if (typeof answer !== 'function') {
      throw new ParameterError({ parameter: 'answer', expected: 'a function', received: answer });
    }
    const planted = new MockFaults();
    for (const fault of faults) planted.add(fault);
    const times = {
      decodeMs: time('decodeMs', decodeMs),
      prefillMsPerToken: time('prefillMsPerToken', prefillMsPerToken),
    };
    const behaviour = { vocabSize, answer, faults: planted, line: new MockLine(), ...times };
    const perSequence = Math.ceil((given.maxModelLength ?? maxPositions) / pageTokens);
    const least = totalOfShare(perSequence, given.maxTenantShare ?? 1);
    const pages = given.pages ?? Math.max(least, perSequence * (given.maxSequences ?? 8));
    super({
      options: settleOptions({ ...options, model, pages, graphSizes: [] }),
      pages,
      decode: new MockDecode(behaviour),
      prefill: new MockPrefill(behaviour),
      dispose: () => undefined,
    });
    this.model = model;
    this.#faults = planted;
  }

  /** @throws ParameterError */
  static override async create(options: MockEngineOptions = {}): Promise<MockEngine> {
    return new MockEngine(options);
  }

  /** Plants one more; its steps count from now. @throws ParameterError */
  injectFault(fault: MockFault): void {
    this.#faults.add(fault);
  }
}

function positive(parameter: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value;
  throw new ParameterError({ parameter, expected: 'a positive integer', received: value });
}

function time(parameter: string, value: number): number {
  if (value >= 0 && Number.isFinite(value)) return value;
  const expected = 'milliseconds, 0 or more';
  throw new ParameterError({ parameter, expected, received: value });
}
