import { z } from 'zod';
import { ClientError, ExitError } from '../errors/index.js';
import { type RequestLimits, request } from './request.js';
import type { ServerAddress } from './server-address.js';

const modelList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

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
  const served = await request(server, '/models', { ...limits, read: modelNames(server) });
  const [first] = served;
  if (first === undefined) throw new ExitError('usage', `${server.baseUrl} serves no model`);
  if (wanted === undefined || served.includes(wanted)) return wanted ?? first;
  const problem = `--model is "${wanted}", but ${server.baseUrl} serves ${served.join(', ')}`;
  throw new ExitError('usage', `${problem}; pass one of these, or leave --model out`);
}

function modelNames({ baseUrl }: ServerAddress): (answer: Response) => Promise<string[]> {
  return async (answer) => {
    const text = await answer.text();
    try {
      return modelList.parse(JSON.parse(text)).data.map(({ id }) => id);
    } catch (cause) {
      const problem = `${baseUrl}/models is no list of models`;
      const remedy = 'is --base-url the address of an OpenAI-compatible API?';
      throw new ClientError('CLIENT_ANSWER', `${problem}; ${remedy}`, { cause });
    }
  };
}
