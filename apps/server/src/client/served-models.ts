import { z } from 'zod';
import { ClientError, ExitError } from '../errors/index.js';
import { type RequestLimits, request } from './request.js';
import type { ServerAddress } from './server-address.js';

const modelList = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), max_model_len: z.number().nullish() })),
});
type ModelList = z.infer<typeof modelList>['data'];
const counted = z.looseObject({ count: z.int().min(0) });
const timeoutMs = 30_000;

/**
 * The model to ask for: the wanted one if the server serves it, or the first served one.
 *
 * @throws ClientError (no answer), ExitError (usage: not served, or none is)
 */
export async function chooseModel(
  server: ServerAddress,
  wanted: string | undefined,
  limits: RequestLimits = {},
): Promise<string> {
  const list = await request(server, '/models', { ...limits, read: readModels(server) });
  const served = list.map(({ id }) => id);
  const [first] = served;
  if (first === undefined) throw new ExitError('usage', `${server.baseUrl} serves no model`);
  if (wanted === undefined || served.includes(wanted)) return wanted ?? first;
  const problem = `--model is "${wanted}", but ${server.baseUrl} serves ${served.join(', ')}`;
  throw new ExitError('usage', `${problem}; pass one of these, or leave --model out`);
}

/** Tokens of the longest sequence of a model, as ours and vLLM's lists say; undefined = unknown. */
export async function contextOf(server: ServerAddress, model: string): Promise<number | undefined> {
  const list = await request(server, '/models', { timeoutMs, read: readModels(server) });
  return list.find(({ id }) => id === model)?.max_model_len ?? undefined;
}

/** What servers answer where they have no such route. */
const withoutRoute = new Set<number | undefined>([404, 405, 501]);

/**
 * Tokens of a text as the server counts them; undefined for one without `/tokenize`.
 *
 * @throws ClientError for every other failure
 */
export async function countTokens(
  server: ServerAddress,
  model: string,
  text: string,
): Promise<number | undefined> {
  // Ours has the route below both; vLLM's is beside `/v1`, not in it.
  const baseUrl = server.baseUrl.replace(/\/v1$/, '');
  const body = { model, prompt: text, add_special_tokens: false };
  try {
    return await request({ ...server, baseUrl }, '/tokenize', {
      timeoutMs,
      body,
      read: readCount(baseUrl),
    });
  } catch (error) {
    if (error instanceof ClientError && withoutRoute.has(error.status)) return undefined;
    throw error;
  }
}

function readCount(baseUrl: string): (answer: Response) => Promise<number> {
  return async (answer) => {
    const text = await answer.text();
    try {
      return counted.parse(JSON.parse(text)).count;
    } catch (cause) {
      const problem = `${baseUrl}/tokenize does not answer with a \`count\` of tokens`;
      throw new ClientError('CLIENT_ANSWER', `${problem}; pass --tokenizer DIR`, { cause });
    }
  };
}

function readModels({ baseUrl }: ServerAddress): (answer: Response) => Promise<ModelList> {
  return async (answer) => {
    const text = await answer.text();
    try {
      return modelList.parse(JSON.parse(text)).data;
    } catch (cause) {
      const problem = `${baseUrl}/models is no list of models`;
      const remedy = 'is --base-url the address of an OpenAI-compatible API?';
      throw new ClientError('CLIENT_ANSWER', `${problem}; ${remedy}`, { cause });
    }
  };
}
