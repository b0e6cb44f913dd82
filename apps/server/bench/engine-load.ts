import { open, type Runtime } from '@altstream/cuda-runtime';
import { Engine } from '@altstream/engine';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import { promptOf, type ServingLoad } from './serving-load.js';

/** Requests straight to the engine, on this thread. */
export class EngineLoad implements ServingLoad {
  readonly name = 'engine';
  isRight = true;
  readonly #engine: Engine;
  readonly #model: MiniMaxM3Model;
  readonly #runtime: Runtime;

  private constructor(engine: Engine, model: MiniMaxM3Model, runtime: Runtime) {
    this.#engine = engine;
    this.#model = model;
    this.#runtime = runtime;
  }

  static async start(directory: string): Promise<EngineLoad> {
    const runtime = await open({ backend: 'cpu' });
    const model = await MiniMaxM3Model.load({ runtime, directory, dtype: 'bfloat16' });
    const engine = await Engine.create({ model, maxSequences: 4, prefixCaching: false });
    return new EngineLoad(engine, model, runtime);
  }

  async run(stream: number, promptTokens: number, tokens: number): Promise<void> {
    const parameters = { temperature: 0, maxTokens: tokens };
    for await (const event of this.#engine.generate(promptOf(stream, promptTokens), parameters)) {
      if (event.type !== 'finish') continue;
      this.isRight &&= event.reason === 'length' && event.generatedTokens === tokens;
    }
  }

  async close(): Promise<void> {
    await this.#engine.close();
    this.#model.dispose();
    await this.#runtime.dispose();
  }
}
