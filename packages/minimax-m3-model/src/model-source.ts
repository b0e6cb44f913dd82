/**
 * Finds config and weights of what was asked for: a checkpoint folder, or a model made of nothing.
 */

import { builtInConfig, builtInModels } from './config/built-in-configs.js';
import type { ModelConfig } from './config/model-config.js';
import { applyOverrides, type ConfigOverrides } from './config/overrides.js';
import { parseModelConfig, readModelConfig } from './config.js';
import { ModelConfigError } from './errors/index.js';
import { Checkpoint } from './loader/checkpoint.js';
import { DummySource } from './loader/dummy/dummy-source.js';
import type { TensorSource } from './loader/tensor-source.js';

/**
 * `safetensors`: the files of a folder. `dummy`: random weights, made on the device; answers mean
 * nothing.
 */
export type LoadFormat = 'safetensors' | 'dummy';

/** What names a model. */
export interface ModelPlace {
  /** Checkpoint folder; with `dummy` only its `config.json` is read, or it is a built-in name. */
  readonly directory: string;
  readonly loadFormat?: LoadFormat;
  readonly overrides?: ConfigOverrides;
}

/**
 * The config of a model, before anything of its weights is looked at.
 *
 * @throws ModelConfigError
 */
export async function resolveConfig(place: ModelPlace): Promise<ModelConfig> {
  const { directory, loadFormat, overrides = {} } = place;
  const builtIn = builtInConfig(directory);
  if (builtIn && loadFormat === 'dummy') {
    return parseModelConfig(applyOverrides(builtIn, overrides));
  }
  return readModelConfig(directory, overrides).catch((error: unknown) => {
    const isMissing = error instanceof ModelConfigError && error.code === 'MODEL_CONFIG_FILE';
    if (!isMissing) throw error;
    if (builtIn)
      throw withHint(error, "this name has no weights here; `loadFormat: 'dummy'` makes some");
    if (loadFormat !== 'dummy') throw error;
    throw withHint(error, `or one of the built-in names ${builtInModels.join(', ')}`);
  });
}

/** The weights of a model; `seed` is that of dummy ones. */
export function openSource(
  { directory, loadFormat }: ModelPlace,
  config: ModelConfig,
  seed: number | undefined,
): Promise<TensorSource> | TensorSource {
  return loadFormat === 'dummy' ? new DummySource(config, seed) : Checkpoint.open(directory);
}

function withHint(error: ModelConfigError, hint: string): ModelConfigError {
  const { facts, cause } = error;
  return new ModelConfigError('MODEL_CONFIG_FILE', `${error.message}; ${hint}`, { facts, cause });
}
