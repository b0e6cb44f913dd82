import { ExitError } from '../errors/index.js';
import { EngineWorkerError } from '../worker/engine-worker-error.js';

/** Exit codes tell supervisors whether trying again can help. */
export function startError(error: Error): ExitError {
  const code = error instanceof EngineWorkerError ? error.code : '';
  const kind = kindOf(code);
  const named = kind === 'usage' || kind === 'memory' ? withFlags(error.message) : error.message;
  return new ExitError(kind, named, { cause: error });
}

function kindOf(code: string): ConstructorParameters<typeof ExitError>[0] {
  if (/^CRT_UNAVAILABLE/.test(code) || code === 'CRT_NO_KERNEL_IMAGE') return 'device';
  if (['CRT_OOM', 'MODEL_MEMORY', 'ENGINE_MEMORY'].includes(code)) return 'memory';
  if (['ENGINE_PARAMETER', 'MODEL_CONFIG_OVERRIDE'].includes(code)) return 'usage';
  return /^MODEL_/.test(code) ? 'model' : 'engine';
}

const flagOf: Readonly<Record<string, string>> = {
  maxModelLength: '--max-model-len',
  maxSequences: '--max-num-seqs',
  maxBatchedTokens: '--max-num-batched-tokens',
  maxPartialPrefills: '--max-num-partial-prefills',
  maxWaiting: '--max-num-queued-reqs',
  maxWaitingTokens: '--max-num-queued-tokens',
  maxTenantShare: '--max-tenant-kv-share',
  pages: '--num-gpu-blocks-override',
  memoryFraction: '--gpu-memory-utilization',
  num_hidden_layers: '--override num_hidden_layers=N',
  graphSizes: '--cuda-graph-sizes',
};

/** The engine names its own options; a person at the command line knows them as flags. */
function withFlags(message: string): string {
  return message.replaceAll(/`?\b([a-z][A-Za-z]+)\b`?/g, (text, name: string) =>
    name === 'pages' && !text.startsWith('`') ? text : (flagOf[name] ?? text),
  );
}
