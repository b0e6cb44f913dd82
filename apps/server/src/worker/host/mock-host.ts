import { MockEngine, scriptedAnswers } from '@altstream/engine';
import type { EngineWorkerOptions, MockSetup } from '../messages.js';
import { engineInfo, engineLimits } from './engine-facts.js';
import type { EngineHostReports, HostedEngine } from './hosted-engine.js';
import { openTrace } from './trace-file.js';

/** Starts an engine that runs no model. */
export async function startMock(
  options: EngineWorkerOptions,
  { scripts, endId, faults = [], ...facts }: MockSetup,
  { onFault, onWarning, watch }: EngineHostReports,
): Promise<HostedEngine> {
  const trace = options.traceFile === undefined ? undefined : openTrace(options.traceFile);
  const engine = await MockEngine.create({
    ...engineLimits(options, { watch, onFault, onLedgerError: onWarning, onTrace: trace?.write }),
    ...facts,
    ...(scripts ? { answer: scriptedAnswers(scripts, endId) } : {}),
    faults,
  });
  const outputs = 'mean nothing: a mock says what its script says';
  const model = { ...engine.model, describe: () => ({ ...engine.model.describe(), outputs }) };
  return {
    engine,
    runtime: undefined,
    facts: () => ({ experts: undefined, bytes: undefined }),
    info: engineInfo(engine, model, { device: { taken: 'none' } }),
    close: async () => {
      await engine.close();
      trace?.close();
    },
  };
}
