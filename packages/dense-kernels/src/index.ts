export type { OperationOptions } from '@altstream/cuda-runtime';
export { type AddInput, type AddOptions, add } from './add.js';
export {
  type AdjustLogitsInput,
  adjustLogits,
  type RestoreLogitsInput,
  restoreLogits,
} from './adjust-logits.js';
export { type DequantizeMxfp8Options, dequantizeMxfp8 } from './dequantize-mxfp8.js';
export { type EmbeddingInput, type EmbeddingOptions, embedding } from './embedding.js';
export type { EmbeddingDType } from './embedding.plan.js';
export {
  ArgumentRangeError,
  DenseKernelsError,
  type DenseKernelsErrorCode,
  type DenseKernelsErrorFacts,
  DeviceError,
  DTypeError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
export { type LinearInput, type LinearOptions, linear } from './linear.js';
export {
  checkLinearWeight,
  type LinearWeight,
  type LinearWeightFacts,
  type LinearWeightKind,
  mxfp8BlockSize,
} from './linear.weight.js';
export { type MaskLogitsInput, type MaskLogitsOptions, maskLogits } from './mask-logits.js';
export { loadDenseKernels } from './module.js';
export {
  type PackMxfp8ScalesOptions,
  packMxfp8Scales,
  unpackMxfp8Scales,
} from './pack-mxfp8-scales.js';
export {
  type Mxfp8ScaleMode,
  type Mxfp8Tensors,
  type QuantizeMxfp8Options,
  quantizeMxfp8,
} from './quantize-mxfp8.js';
export { type AddedRmsNorm, type RmsNormInput, type RmsNormOptions, rmsNorm } from './rms-norm.js';
export { type SampleInput, type SampleOptions, type SampleResult, sample } from './sampling.js';
export { type SwigluOaiInput, type SwigluOaiOptions, swigluOai } from './swiglu-oai.js';
export {
  type TopLogprobsInput,
  type TopLogprobsOptions,
  type TopLogprobsResult,
  topLogprobs,
} from './top-logprobs.js';
