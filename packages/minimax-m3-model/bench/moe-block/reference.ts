// One token of a MoE block in float64, from the bytes that dummy weights have.
import { type Stream, Tensor } from '@altstream/cuda-runtime';
import { download, e4m3ToF32, e8m0ToF32 } from '@altstream/cuda-runtime/testing';
import type { ModelConfig } from '../../src/index.js';
import { DummySource } from '../../src/loader/dummy/dummy-source.js';

const mxBlock = 32;
const e4m3 = e4m3ToF32(Uint8Array.from({ length: 256 }, (_, byte) => byte));
const e8m0 = e8m0ToF32(Uint8Array.from({ length: 256 }, (_, byte) => byte));
const dtypes = { F8_E4M3: 'u8', U8: 'u8', F32: 'f32' } as const;

/** Scores closer than this may be in either order: the router's sums are rounded to fp32. */
const tie = 1e-4;

/** What a block chose for a token and made of it. */
export interface TokenResult {
  readonly ids: ArrayLike<number>;
  readonly weights: ArrayLike<number>;
  readonly output: Float32Array;
}

/** Makes the weights of single experts again and computes with them. */
export class BlockReference {
  readonly #config: ModelConfig;
  readonly #source: DummySource;
  readonly #stream: Stream;

  constructor(config: ModelConfig, seed: number, stream: Stream) {
    this.#config = config;
    this.#source = new DummySource(config, seed);
    this.#stream = stream;
  }

  /**
   * What is wrong with one token's result; undefined if nothing. The experts must be those of the
   * largest scores, and `columns` of the output, relative to their norm, no further off than bf16
   * rounds.
   */
  async faultOf(
    layer: number,
    x: Float32Array,
    { ids, weights, output }: TokenResult,
    columns: readonly number[],
  ): Promise<string | undefined> {
    const prefix = `language_model.model.layers.${layer}.block_sparse_moe.`;
    const badChoice = await this.#faultOfChoice(prefix, x, ids, weights);
    if (badChoice) return badChoice;
    const shared = await this.#mlp(`${prefix}shared_experts.`, sharedNames, x, columns);
    const expected = Float64Array.from(shared);
    for (const [slot, id] of Array.from(ids).entries()) {
      const part = await this.#mlp(`${prefix}experts.${id}.`, expertNames, x, columns);
      for (const [i, value] of part.entries()) {
        expected[i] = (expected[i] ?? 0) + value * (weights[slot] ?? Number.NaN);
      }
    }
    const [apart, size] = columns.reduce(
      ([a, b], column, i) => {
        const wanted = expected[i] ?? Number.NaN;
        return [a + ((output[column] ?? Number.NaN) - wanted) ** 2, b + wanted ** 2];
      },
      [0, 0],
    );
    const relative = Math.sqrt(apart / size);
    if (relative <= 2 ** -6) return undefined;
    return `the output is ${relative} apart from float64, relative to its norm`;
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  async #faultOfChoice(
    prefix: string,
    x: Float32Array,
    ids: ArrayLike<number>,
    weights: ArrayLike<number>,
  ): Promise<string | undefined> {
    const router = await this.#bytes(`${prefix}gate.weight`);
    const { moe } = this.#config;
    const scores = Array.from({ length: moe?.experts ?? 0 }, (_, expert) => {
      let logit = 0;
      for (const [c, value] of x.entries()) logit += value * (router[expert * x.length + c] ?? 0);
      return 1 / (1 + Math.exp(-logit));
    });
    const chosen = Array.from(ids, (id) => scores[id] ?? Number.NaN);
    const best = [...scores].sort((a, b) => b - a).slice(0, chosen.length);
    const total = chosen.reduce((sum, score) => sum + score, 0);
    const scale = moe?.routedScale ?? 1;
    for (const [slot, score] of chosen.entries()) {
      if (!(Math.abs(score - (best[slot] ?? 0)) <= tie)) {
        return `choice ${slot} has score ${score}, expected ${best[slot]}`;
      }
      const weight = (score / total) * scale;
      if (!(Math.abs((weights[slot] ?? Number.NaN) - weight) <= 10 * tie)) {
        return `choice ${slot} has weight ${weights[slot]}, expected ${weight}`;
      }
    }
    const isTwice = new Set(Array.from(ids)).size < ids.length;
    return isTwice ? 'a choice has the same expert twice' : undefined;
  }

  async #mlp(
    prefix: string,
    names: typeof expertNames,
    x: Float32Array,
    columns: readonly number[],
  ): Promise<Float64Array> {
    const gate = await this.#project(`${prefix}${names.gate}.weight`, x);
    const up = await this.#project(`${prefix}${names.up}.weight`, x);
    const { alpha, beta, limit } = this.#config.swiglu;
    const activated = gate.map((value, i) => {
      const g = Math.min(value, limit);
      const u = Math.max(-limit, Math.min(up[i] ?? Number.NaN, limit));
      return (g / (1 + Math.exp(-alpha * g))) * (u + beta);
    });
    return this.#project(`${prefix}${names.down}.weight`, activated, columns);
  }

  /** x · Wᵀ, of the wanted rows of W. */
  async #project(
    name: string,
    x: Float32Array | Float64Array,
    wanted?: readonly number[],
  ): Promise<Float64Array> {
    const codes = await this.#bytes(name);
    const scales = await this.#bytes(`${name}_scale_inv`);
    const rows = wanted ?? Array.from({ length: codes.length / x.length }, (_, row) => row);
    return Float64Array.from(rows, (row) => {
      let sum = 0;
      for (let block = 0; block < x.length / mxBlock; block++) {
        let part = 0;
        for (let c = block * mxBlock; c < (block + 1) * mxBlock; c++) {
          part += (x[c] as number) * (e4m3[codes[row * x.length + c] as number] as number);
        }
        const scale = scales[(row * x.length) / mxBlock + block] as number;
        sum += part * (e8m0[scale] as number);
      }
      return sum;
    });
  }

  /** f32 values, or bytes. */
  async #bytes(name: string): Promise<Uint8Array | Float32Array> {
    const stored = this.#source.tensors.get(name);
    const dtype = dtypes[stored?.dtype as keyof typeof dtypes];
    if (!stored || !dtype) throw new Error(`dummy weights have no ${name} of a type known here`);
    // The pattern goes by the type: elements are e4m3, scales e8m0.
    const filled = { F8_E4M3: 'e4m3', U8: 'e8m0', F32: 'f32' } as const;
    const like = filled[stored.dtype as keyof typeof filled];
    const tensor = this.#stream.tensor(stored.shape, like, 'bench.reference');
    await this.#source.fill(stored, tensor, this.#stream);
    const raw = Tensor.of(tensor.borrow(), stored.shape, dtype);
    const values = (await download(this.#stream, raw)) as Uint8Array | Float32Array;
    tensor.dispose();
    return values;
  }
}

const expertNames = { gate: 'w1', up: 'w3', down: 'w2' };
const sharedNames = { gate: 'gate_proj', up: 'up_proj', down: 'down_proj' };
