import OpenAI from 'openai';
import { type Serving, startServing } from '../test/makers/serving.js';
import { promptOf, type ServingLoad } from './serving-load.js';

/** Requests over HTTP to a server process, streamed by the openai client. */
export class HttpLoad implements ServingLoad {
  readonly name = 'http';
  isRight = true;
  readonly #server: Serving;
  readonly #client: OpenAI;

  private constructor(server: Serving) {
    this.#server = server;
    this.#client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  }

  static async start(directory: string): Promise<HttpLoad> {
    const args = [
      '--device',
      'cpu',
      '--dtype',
      'bfloat16',
      '--max-num-seqs',
      '4',
      '--no-enable-prefix-caching',
    ];
    const quiet = ['--log-level', 'warn', '--disable-log-requests'];
    return new HttpLoad(await startServing('--model', directory, ...args, ...quiet));
  }

  async run(stream: number, promptTokens: number, tokens: number): Promise<void> {
    const answer = await this.#client.completions.create({
      model: 'T128',
      prompt: promptOf(stream, promptTokens),
      temperature: 0,
      max_tokens: tokens,
      stream: true,
      stream_options: { include_usage: true },
      ...{ ignore_eos: true },
    });
    let generated = 0;
    for await (const { usage } of answer) generated = usage?.completion_tokens ?? generated;
    this.isRight &&= generated === tokens;
  }

  async close(): Promise<void> {
    await this.#server.stop();
  }
}
