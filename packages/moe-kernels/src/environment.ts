import { ConfigurationError } from './errors/index.js';
import { type PdlDtype, pdlDtypes } from './pdl-limits.js';

/** What the environment says about PDL. */
export interface PdlEnvironment {
  readonly disabled: boolean;
  /** Limit for every format; undefined = not set. */
  readonly limit?: number;
  /** Limits of single formats, stronger than `limit`. */
  readonly limits: Readonly<Partial<Record<PdlDtype, number>>>;
}

const suffixes: Readonly<Record<PdlDtype, string>> = {
  fp4: 'FP4',
  mxfp4: 'MXFP4',
  mxfp8: 'MXFP8',
  fp8Block: 'FP8_BLOCK',
  bf16: 'BF16',
};

/**
 * Reads `MOE_KERNELS_DISABLE_PDL`, `MOE_KERNELS_PDL_MAX_TOKENS` (alias
 * `SGLANG_TRTLLM_MOE_PDL_MAX_TOKENS` when ours is unset) and `MOE_KERNELS_PDL_MAX_TOKENS_<FORMAT>`.
 *
 * @throws ConfigurationError which names the variable
 */
export function readPdlEnvironment(environment: NodeJS.ProcessEnv): PdlEnvironment {
  const limit =
    readLimit(environment, 'MOE_KERNELS_PDL_MAX_TOKENS') ??
    readLimit(environment, 'SGLANG_TRTLLM_MOE_PDL_MAX_TOKENS');
  const limits: Partial<Record<PdlDtype, number>> = {};
  for (const dtype of pdlDtypes) {
    const own = readLimit(environment, `MOE_KERNELS_PDL_MAX_TOKENS_${suffixes[dtype]}`);
    if (own !== undefined) limits[dtype] = own;
  }
  const disabled = readSwitch(environment, 'MOE_KERNELS_DISABLE_PDL');
  return limit === undefined ? { disabled, limits } : { disabled, limit, limits };
}

function readLimit(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = environment[name];
  if (text === undefined) return undefined;
  if (!/^(-1|\d+)$/.test(text)) {
    throw new ConfigurationError(name, 'an integer ≥ -1', JSON.stringify(text));
  }
  return Number(text) === -1 ? Number.POSITIVE_INFINITY : Number(text);
}

function readSwitch(environment: NodeJS.ProcessEnv, name: string): boolean {
  const text = environment[name];
  if (text === undefined || text === '0' || text === '1') return text === '1';
  throw new ConfigurationError(name, '0 or 1', JSON.stringify(text));
}
