import { homedir } from 'node:os';
import { join } from 'node:path';

/** What variables of other tools say. The server's own ones are twins of its flags. */
export interface Environment {
  /** Where downloads of the Hugging Face hub lie, as its own tools find them. */
  readonly hubCacheFolder: string;
  /** The name of this service in traces. */
  readonly serviceName: string;
  /** Spans of traces that wait to be sent at most. */
  readonly spanQueueSize: number;
}

/** OpenTelemetry's own. */
const usualSpanQueue = 2048;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * All variables, for what shows which are set. Nothing else of the server looks into the
 * environment.
 */
export function allVariables(): Variables {
  return process.env;
}

/** Reads what is obeyed. */
export function readEnvironment(variables: Variables = allVariables()): Environment {
  const { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = variables;
  const { OTEL_SERVICE_NAME, OTEL_BSP_MAX_QUEUE_SIZE } = variables;
  const spans = Number(OTEL_BSP_MAX_QUEUE_SIZE || Number.NaN);
  const caches = XDG_CACHE_HOME || join(homedir(), '.cache');
  return {
    hubCacheFolder: HF_HUB_CACHE || join(HF_HOME || join(caches, 'huggingface'), 'hub'),
    serviceName: OTEL_SERVICE_NAME || 'altstream',
    // OpenTelemetry wants what is no such number to be as if it were not there.
    spanQueueSize: Number.isSafeInteger(spans) && spans > 0 ? spans : usualSpanQueue,
  };
}
