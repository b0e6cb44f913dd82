import { homedir } from 'node:os';
import { join } from 'node:path';

/** What variables of other tools say. The server's own ones are twins of its flags. */
export interface Environment {
  /** Where downloads of the Hugging Face hub lie, as its own tools find them. */
  readonly hubCacheFolder: string;
  /** The name of this service in traces. */
  readonly serviceName: string;
}

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
  const { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, OTEL_SERVICE_NAME } = variables;
  const caches = XDG_CACHE_HOME || join(homedir(), '.cache');
  return {
    hubCacheFolder: HF_HUB_CACHE || join(HF_HOME || join(caches, 'huggingface'), 'hub'),
    serviceName: OTEL_SERVICE_NAME || 'altstream',
  };
}
