import OpenAI from 'openai';
import pino from 'pino';
import type { ServeFlags } from '../../src/config/serve-flags.js';
import { serve } from '../../src/serve.js';
import type { EngineInfo } from '../../src/worker/messages.js';

/** A server in this process, on a free loopback port, with its workers in threads. */
export interface TestServer {
  readonly url: string;
  readonly info: EngineInfo;
  readonly client: OpenAI;
  /** The engine's own counters, by the metrics route. */
  metric(name: string): Promise<number>;
  close(): Promise<void>;
}

const defaults: ServeFlags = {
  host: '127.0.0.1',
  port: 0,
  maxBodySize: 1 << 20,
  sseKeepAliveInterval: 15,
  shutdownTimeout: 5,
  device: 'cpu',
  dtype: 'float32',
  maxNumSeqs: 4,
  maxNumBatchedTokens: 256,
  maxNumPartialPrefills: 2,
  overlap: 'capture',
  sharedExpert: 'separate',
  generationConfig: 'auto',
  defaultChatTemplateKwargs: {},
  logLevel: 'silent',
};

/** Starts a server on a model folder and waits until it is ready. */
export async function startTestServer(
  model: string,
  flags: Partial<ServeFlags> = {},
): Promise<TestServer> {
  const server = await serve({
    flags: { ...defaults, model, ...flags },
    logger: pino({ level: 'silent' }),
    onProgress: () => undefined,
  });
  const info = await server.ready();
  const { url } = server;
  return {
    url,
    info,
    client: new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: flags.apiKey?.[0] ?? 'none',
      maxRetries: 0,
    }),
    metric: async (name) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(name));
      return Number(line?.split(' ').at(-1) ?? Number.NaN);
    },
    close: () => server.close(5000),
  };
}
