/** Keeps what the taps of a pass show. */

import { type Stream, Tensor } from '@altstream/cuda-runtime';
import type { ModelTaps } from '../../src/model-taps.js';

/** Copies of everything that the layers decided in one pass of one sequence. */
export class Recorder {
  readonly #kept = new Map<string, Tensor>();

  /** Taps to give to the pass. */
  readonly taps: ModelTaps = {
    router: (layer, ids, weights, stream) => {
      this.#keep(`router ids ${layer}`, ids, stream);
      this.#keep(`router weights ${layer}`, weights, stream);
    },
    blocks: (layer, blocks, stream) => this.#keep(`blocks ${layer}`, blocks, stream),
    residual: (layer, before, residual, stream) =>
      this.#keep(`residual ${layer} ${before}`, residual, stream),
    output: (layer, output, stream) => this.#keep(`output ${layer}`, output, stream),
    finalNorm: (normed, stream) => this.#keep('final norm', normed, stream),
  };

  /** Experts of a token, ascending, with their weights. */
  async experts(layer: number, token: number) {
    const ids = await this.#rows(`router ids ${layer}`);
    const weights = await this.#rows(`router weights ${layer}`);
    const slots = [...(ids[token] ?? [])].map((id, slot) => [id, weights[token]?.[slot] ?? 0]);
    slots.sort(([a = 0], [b = 0]) => a - b);
    return { ids: slots.map(([id]) => id), weights: slots.map(([, weight]) => weight ?? 0) };
  }

  /** Blocks of a token by group. */
  async blocks(layer: number, token: number): Promise<number[][]> {
    const tensor = this.#kept.get(`blocks ${layer}`) as Tensor;
    const [groups = 0, tokens = 0] = tensor.shape;
    const rows = await this.#rows(`blocks ${layer}`);
    return Array.from({ length: groups }, (_, g) =>
      [...(rows[g * tokens + token] ?? [])].filter((block) => block >= 0),
    );
  }

  /** A row of the residual stream at a stage, as the golden files name stages. */
  async residual(stage: string, token: number, layers: number): Promise<number[]> {
    if (stage === 'final_norm') return this.#row('final norm', token);
    if (stage === 'embed') return this.#row('residual 0 attention', token);
    const [layer = '', part] = stage.split('.');
    if (part === 'attention') return this.#row(`residual ${layer} mlp`, token);
    const next = Number(layer) + 1;
    if (next < layers) return this.#row(`residual ${next} attention`, token);
    const before = await this.#row(`residual ${layer} mlp`, token);
    const output = await this.#row(`output ${layer}`, token);
    return before.map((value, i) => value + (output[i] ?? 0));
  }

  async #row(name: string, token: number): Promise<number[]> {
    return [...((await this.#rows(name))[token] ?? [])];
  }

  async #rows(name: string): Promise<(Float32Array | Int32Array)[]> {
    const tensor = this.#kept.get(name);
    if (!tensor) throw new Error(`nothing recorded as ${name}`);
    const { elements, dtype, shape } = tensor;
    const values = dtype === 'i32' ? new Int32Array(elements) : new Float32Array(elements);
    await tensor.device.runtime.currentStream().read(tensor, values);
    const width = shape.at(-1) ?? 1;
    return Array.from({ length: elements / width }, (_, row) =>
      values.slice(row * width, (row + 1) * width),
    );
  }

  #keep(name: string, tensor: Tensor, stream: Stream): void {
    const { device, shape, dtype } = tensor;
    const copy = Tensor.allocate(device, shape, dtype, { stream, label: name });
    stream.copy(copy, tensor);
    this.#kept.set(name, copy);
  }
}
