import { describe, expect, it } from 'vitest';
import { type PdlConfig, type PdlLaunch, PdlPolicy } from './pdl.js';
import type { PdlDtype } from './pdl-limits.js';

const gpu = (sm: string) => ({ sm, cpuLevel: '' });
const launch: PdlLaunch = { tokens: 100, device: gpu('9.0'), waits: true };
const policy = (config: PdlConfig = {}, environment: NodeJS.ProcessEnv = {}) =>
  new PdlPolicy(config, environment);
const decide = (
  p: PdlPolicy,
  changes: Partial<PdlLaunch> = {},
  { dtype = 'mxfp8', ...call }: PdlConfig & { dtype?: PdlDtype } = {},
) => p.chooser(dtype, call)({ ...launch, ...changes });

describe('PDL limit', () => {
  it('is inclusive', () => {
    const limited = policy({ maxTokens: 100 });
    expect(decide(limited).enabled).toBe(true);
    expect(decide(limited, { tokens: 101 }).reason).toBe('101 tokens are more than the limit 100');
  });

  it('0 disables from the first token, -1 and Infinity never', () => {
    expect(decide(policy({ maxTokens: 0 }), { tokens: 1 }).enabled).toBe(false);
    for (const maxTokens of [-1, Number.POSITIVE_INFINITY]) {
      expect(decide(policy({ maxTokens }), { tokens: 1e9 }).enabled).toBe(true);
    }
  });

  it('takes the call over the config over the environment over the architecture', () => {
    const environment = { MOE_KERNELS_PDL_MAX_TOKENS: '3' };
    const perArch = { '9.0': 4 };
    const at = (p: PdlPolicy, call?: PdlConfig) => {
      const { limit, source } = decide(p, {}, call);
      return [source, limit];
    };
    expect(at(policy({ maxTokens: 2, perArch }, environment), { maxTokens: 1 })).toEqual([
      'call',
      1,
    ]);
    expect(at(policy({ maxTokens: 2, perArch }, environment))).toEqual(['config', 2]);
    expect(at(policy({ perArch }, environment))).toEqual(['environment', 3]);
    expect(at(policy({ perArch }))).toEqual(['arch', 4]);
    expect(at(policy())).toEqual(['built-in', 8192]);
  });

  it('differs by format: an FP8 call does not fall back to the FP4 limit (sglang#34542)', () => {
    const limited = policy({ maxTokens: { fp4: 1, mxfp8: 200 } });
    expect(decide(limited).limit).toBe(200);
    expect(decide(limited, {}, { dtype: 'fp4' }).limit).toBe(1);
    expect(decide(limited, {}, { dtype: 'bf16' }).source).toBe('built-in');
  });

  it('reads one variable a format, above the global one', () => {
    const own = policy(
      {},
      {
        MOE_KERNELS_PDL_MAX_TOKENS: '7',
        MOE_KERNELS_PDL_MAX_TOKENS_MXFP8: '9',
      },
    );
    expect(decide(own).limit).toBe(9);
    expect(decide(own, {}, { dtype: 'fp8Block' }).limit).toBe(7);
  });

  it("takes sglang's variable only when ours is unset", () => {
    const alias = { SGLANG_TRTLLM_MOE_PDL_MAX_TOKENS: '5' };
    expect(decide(policy({}, alias)).limit).toBe(5);
    const both = { ...alias, MOE_KERNELS_PDL_MAX_TOKENS: '6' };
    expect(decide(policy({}, both)).limit).toBe(6);
  });

  it('is 4096 for 8-bit formats on Blackwell and 0 on SM 10.7 (flashinfer#4806)', () => {
    expect(decide(policy(), { device: gpu('10.0') }).limit).toBe(4096);
    expect(decide(policy(), { device: gpu('10.0') }, { dtype: 'fp4' }).limit).toBe(8192);
    expect(decide(policy(), { device: gpu('10.7') }).enabled).toBe(false);
  });

  it('false for an architecture means never', () => {
    const decision = decide(policy({ perArch: { '9.0': false } }));
    expect(decision).toMatchObject({ enabled: false, limit: 0, source: 'arch' });
  });
});

describe('PDL switch', () => {
  it('MOE_KERNELS_DISABLE_PDL=1 wins over everything (flashinfer#4172)', () => {
    const off = policy({ mode: 'on', maxTokens: -1 }, { MOE_KERNELS_DISABLE_PDL: '1' });
    expect(decide(off, {}, { mode: 'on' }).reason).toBe('MOE_KERNELS_DISABLE_PDL=1');
  });

  it("'on' below compute capability 9.0 is an error, 'auto' says why not (TensorRT-LLM#16330)", () => {
    const ada = { device: gpu('8.9') };
    expect(decide(policy(), ada).reason).toBe(
      'the device has compute capability 8.9 and PDL needs 9.0',
    );
    expect(() => decide(policy({ mode: 'on' }), ada)).toThrow(
      "pdl.mode: expected 'auto' or 'off' here, because the device has compute capability 8.9 " +
        "and PDL needs 9.0, got 'on'",
    );
  });

  it('never sets the attribute for a kernel that does not wait (flashinfer#2708)', () => {
    const decision = decide(policy({ mode: 'on' }), { waits: false });
    expect(decision.reason).toBe('the kernel does not wait for its predecessors');
  });

  it('is decided on the CPU backend by the same limits', () => {
    const cpu = { device: { sm: '', cpuLevel: 'avx2' } };
    expect(decide(policy({ mode: 'on', maxTokens: 100 }), cpu).enabled).toBe(true);
    expect(decide(policy({ mode: 'on', maxTokens: 99 }), cpu).enabled).toBe(false);
    expect(decide(policy(), cpu).reason).toBe('there is nothing to hide on the CPU');
  });
});

describe('PDL settings that cannot be read', () => {
  it.each(['8k', '', '1.5', '-2', 'NaN', ' 8'])('names the variable for "%s"', (value) => {
    expect(() => policy({}, { MOE_KERNELS_PDL_MAX_TOKENS: value })).toThrow(
      `MOE_KERNELS_PDL_MAX_TOKENS: expected an integer ≥ -1, got "${value}"`,
    );
  });

  it.each([Number.NaN, 1.5, -2])('names the option for %s', (maxTokens) => {
    expect(() => policy({ maxTokens })).toThrow(
      `pdl.maxTokens: expected an integer ≥ -1, got ${maxTokens}`,
    );
    expect(() => decide(policy(), {}, { maxTokens: { mxfp8: maxTokens } })).toThrow(
      `options.pdl.maxTokens.mxfp8: expected an integer ≥ -1, got ${maxTokens}`,
    );
  });

  it('refuses a switch that is neither 0 nor 1', () => {
    expect(() => policy({}, { MOE_KERNELS_DISABLE_PDL: 'yes' })).toThrow(
      'MOE_KERNELS_DISABLE_PDL: expected 0 or 1, got "yes"',
    );
  });
});
