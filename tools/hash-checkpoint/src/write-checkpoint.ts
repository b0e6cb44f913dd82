/** Writes a hash-weight model as a folder that any loader of MiniMax-M3 checkpoints can read. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flatConfig, quantizedConfig, textConfig } from './config-variants.js';
import { type ConfigJson, type HashModelName, hashConfig } from './hash-config.js';
import { hashTensors } from './hash-tensors.js';
import { type WrittenFile, writeSafetensors } from './write-safetensors.js';
import { writeTokenizer } from './write-tokenizer.js';

/** What to write. */
export interface HashCheckpointOptions {
  /** A built-in model, or a parsed `config.json` in either spelling. */
  readonly model: HashModelName | ConfigJson;
  /** Folder to write into; made when absent. */
  readonly directory: string;
  /** Quantises the weights that the MXFP8 release quantises. Default false. */
  readonly mxfp8?: boolean;
  /** Number of safetensors files. Default 1. */
  readonly shards?: number;
  /** Writes `config.json` in the flat spelling of transformers 5. Default false. */
  readonly flatConfig?: boolean;
  /** Writes tokenizer and chat template too. Default true. */
  readonly tokenizer?: boolean;
}

/**
 * Writes the checkpoint folder and returns the safetensors files in it.
 *
 * @throws Error when the config lacks a size, or a row to quantise is no multiple of 32
 */
export async function writeHashCheckpoint(options: HashCheckpointOptions): Promise<WrittenFile[]> {
  const { directory, mxfp8 = false } = options;
  const base = typeof options.model === 'string' ? hashConfig(options.model) : options.model;
  const config = mxfp8 ? quantizedConfig(base) : base;
  await mkdir(directory, { recursive: true });
  await writeJson(directory, 'config.json', options.flatConfig ? flatConfig(config) : config);
  await writeJson(directory, 'generation_config.json', generationConfig(config));
  if (options.tokenizer !== false) await writeTokenizer(directory, config);
  return writeSafetensors(directory, hashTensors(config, { mxfp8 }), options.shards);
}

function generationConfig(config: ConfigJson): ConfigJson {
  const text = textConfig(config);
  return {
    bos_token_id: text['bos_token_id'] ?? 0,
    eos_token_id: text['eos_token_id'] ?? 1,
    do_sample: true,
    temperature: 1.0,
    top_p: 0.95,
    top_k: 40,
  };
}

async function writeJson(directory: string, file: string, value: unknown): Promise<void> {
  await writeFile(join(directory, file), `${JSON.stringify(value, null, 2)}\n`);
}
