export { flatConfig, quantizedConfig } from './config-variants.js';
export { type ConfigJson, type HashModelName, hashConfig } from './hash-config.js';
export { checkpointHash, hashTensors, type StoredTensor } from './hash-tensors.js';
export { hashTokens } from './hash-values.js';
export { fromBf16, quantizeMxfp8, toBf16 } from './number-formats.js';
export { type HashCheckpointOptions, writeHashCheckpoint } from './write-checkpoint.js';
export { safetensorsHeader, writeSafetensors } from './write-safetensors.js';
