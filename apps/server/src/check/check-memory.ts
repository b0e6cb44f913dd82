import { open, probe } from '@altstream/cuda-runtime';
import { cacheNeed, type ModelConfig, type WeightCheck } from '@altstream/minimax-m3-model';
import { type Finding, sizeText } from './finding.js';

/** What is asked of the device. */
export interface MemoryWish {
  readonly device: string;
  readonly dtype: 'auto' | 'bfloat16' | 'float32';
}

/** What a model takes on this machine, and what would fit. */
export interface MemoryPlan {
  readonly device: string;
  readonly freeBytes: number;
  readonly weightBytes: number;
  readonly cacheBytesPerToken: number;
  /** Of cache beside the weights, in nine tenths of the free memory; steps need some of it. */
  readonly tokensThatFit: number;
  /** How many sequences of a length those are. */
  readonly sequencesThatFit: Readonly<Record<string, number>>;
  /** Leading layers whose weights fit. */
  readonly layersThatFit: number;
  /** Devices of this size that the weights would fit on together. */
  readonly devicesNeeded: number;
}

/** The exit code that a look at the memory leads to. */
export interface MemoryCheck {
  readonly finding: Finding;
  readonly plan: MemoryPlan | undefined;
  readonly problem: 'device' | 'memory' | undefined;
}

/** As serving takes of a GPU by default; on a CPU the rest is for everything else. */
const usableShare = 0.9;

/** Opens the device, asks what is free, and allocates nothing. */
export async function checkMemory(
  config: ModelConfig,
  weights: WeightCheck,
  wish: MemoryWish,
): Promise<MemoryCheck> {
  const place = await freeMemory(wish.device).catch((error: Error) => error);
  if (place instanceof Error) {
    const detail = `${place.message}; \`altstream doctor\` says what this machine has`;
    return {
      finding: { name: 'device', isGood: false, detail },
      plan: undefined,
      problem: 'device',
    };
  }
  const plan = memoryPlan(config, weights, { ...place, dtype: wish.dtype });
  const fits = plan.tokensThatFit >= cacheNeed(config, 'bf16').pageTokens;
  const finding = {
    name: 'memory',
    isGood: fits,
    detail: fits ? roomText(plan) : lackText(plan, config),
  };
  return { finding, plan, problem: fits ? undefined : 'memory' };
}

/** The arithmetic of {@link checkMemory}. */
export function memoryPlan(
  config: ModelConfig,
  { used, layerBytes }: Pick<WeightCheck, 'used' | 'layerBytes'>,
  { device, freeBytes, dtype }: { device: string; freeBytes: number; dtype: MemoryWish['dtype'] },
): MemoryPlan {
  const { pageBytes, pageTokens } = cacheNeed(config, dtype === 'float32' ? 'f32' : 'bf16');
  const usable = freeBytes * usableShare;
  const left = Math.max(0, usable - used.bytes);
  const tokensThatFit = Math.floor(left / pageBytes) * pageTokens;
  const lengths = [4096, 32_768, config.maxPositions].filter((one) => one <= config.maxPositions);
  const ends = used.bytes - layerBytes.reduce((sum, bytes) => sum + bytes, 0);
  let filled = ends;
  const layersThatFit = layerBytes.filter((bytes) => {
    filled += bytes;
    return filled <= usable;
  }).length;
  return {
    device,
    freeBytes,
    weightBytes: used.bytes,
    cacheBytesPerToken: pageBytes / pageTokens,
    tokensThatFit,
    sequencesThatFit: Object.fromEntries(
      lengths.map((length) => [length, Math.floor(tokensThatFit / length)]),
    ),
    layersThatFit,
    devicesNeeded: Math.ceil((used.bytes + pageBytes) / usable),
  };
}

async function freeMemory(asked: string): Promise<{ device: string; freeBytes: number }> {
  const index = /^cuda:(\d+)$/.exec(asked)?.[1];
  const cuda =
    asked === 'auto' && (await probe()).some((one) => one.backend === 'cuda' && one.usable);
  const backend = index !== undefined || cuda ? 'cuda' : 'cpu';
  const options = { backend, ...(index === undefined ? {} : { device: Number(index) }) } as const;
  const runtime = await open(options);
  try {
    const { freeBytes, name } = runtime.device();
    return { device: `${backend} (${name})`, freeBytes };
  } finally {
    await runtime.dispose();
  }
}

function roomText(plan: MemoryPlan): string {
  const { weightBytes, freeBytes, device, cacheBytesPerToken, tokensThatFit } = plan;
  const sequences = Object.entries(plan.sequencesThatFit).map(
    ([length, count]) => `${count} of ${Number(length).toLocaleString('en')}`,
  );
  return [
    `${sizeText(weightBytes)} of weights in ${sizeText(freeBytes)} free on ${device}`,
    `${sizeText(cacheBytesPerToken)} of cache a token: about ${tokensThatFit.toLocaleString('en')} tokens fit beside them`,
    `sequences of so many tokens: ${sequences.join(', ')}`,
  ].join('\n');
}

function lackText(plan: MemoryPlan, { layers }: ModelConfig): string {
  const { weightBytes, freeBytes, device, layersThatFit, devicesNeeded } = plan;
  const first =
    layersThatFit > 0
      ? `the first ${layersThatFit} of ${layers.length} layers (--override num_hidden_layers=${layersThatFit}), or `
      : '';
  return [
    `${sizeText(weightBytes)} of weights, but ${sizeText(freeBytes)} are free on ${device}`,
    `what would fit: ${first}one rank of ${devicesNeeded} such devices`,
  ].join('\n');
}
