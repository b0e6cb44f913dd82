import type { BackendName } from '@altstream/cuda-runtime/testing';
import OpenAI from 'openai';
import { startServing } from './serving.js';

/** A server process on a free loopback port, with clients for it. */
export interface TestServer {
  readonly url: string;
  readonly client: OpenAI;
  /** The value of the first metric whose line begins so. */
  metric(name: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Starts a server on a model folder, in fp32 and by default on the CPU, and waits until it is
 * ready.
 */
export async function startTestServer(
  model: string,
  options: { backend?: BackendName; apiKey?: string; args?: readonly string[] } = {},
): Promise<TestServer> {
  const { backend = 'cpu', apiKey, args = [] } = options;
  const key = apiKey === undefined ? [] : ['--api-key', apiKey];
  const fixed = [
    '--device',
    backend === 'cuda' ? 'cuda:0' : 'cpu',
    '--dtype',
    'float32',
    '--max-num-seqs',
    '4',
    '--max-body-size',
    '1048576',
  ];
  const server = await startServing('--model', model, ...fixed, ...key, ...args);
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    url: server.url,
    client: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: apiKey ?? 'none', maxRetries: 0 }),
    metric: async (name) => {
      const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
      const line = text.split('\n').find((one) => one.startsWith(name));
      return Number(line?.split(' ').at(-1) ?? Number.NaN);
    },
    close: async () => {
      await server.stop();
    },
  };
}
