import type { DeviceLimits } from '@altstream/cuda-runtime';
import { type PdlEnvironment, readPdlEnvironment } from './environment.js';
import { ConfigurationError } from './errors/index.js';
import { builtInLimit, checkLimit, limitOf, type PdlDtype, type PdlLimit } from './pdl-limits.js';

/** Programmatic dependent launch: when a kernel may start before its predecessor has ended. */
export interface PdlConfig {
  /**
   * `on` is an error where PDL cannot work, `auto` (default) then goes without and says so, as on
   * the CPU, where it works and gains nothing.
   */
  readonly mode?: 'auto' | 'on' | 'off';
  /** Largest token count of a call with PDL, inclusive; 0 = never, -1 or Infinity = always. */
  readonly maxTokens?: PdlLimit;
  /**
   * Limits by architecture (`{ '10.3': 4096 }`), below `maxTokens` and the environment; false =
   * never.
   */
  readonly perArch?: Readonly<Record<string, PdlLimit | false>>;
}

/** Where a limit came from, strongest first. */
export type PdlSource = 'call' | 'config' | 'environment' | 'arch' | 'built-in' | 'none';

/** What was decided for one launch, reported by plans and `describe()`. */
export interface PdlDecision {
  readonly enabled: boolean;
  /** Tokens of the call, or of the bucket while capturing. */
  readonly tokens: number;
  /** Inclusive limit that applied. */
  readonly limit: number;
  readonly source: PdlSource;
  /** Why it is off; absent when it is on. */
  readonly reason?: string;
}

/** One launch to decide about. */
export interface PdlLaunch {
  readonly tokens: number;
  readonly device: Pick<DeviceLimits, 'sm' | 'cpuLevel'>;
  /** Whether the kernel waits for its predecessors (the manifest's `pdl=waits`). */
  readonly waits: boolean;
  /** What about the call forbids it, if anything. */
  readonly obstacle?: string;
}

/** Decides launches for one weight format and one set of options. */
export type PdlChooser = (launch: PdlLaunch) => PdlDecision;

/** For operations called without a policy: never, and the decision says so. */
export const withoutPdl: PdlChooser = ({ tokens }) => ({
  enabled: false,
  tokens,
  limit: 0,
  source: 'none',
  reason: 'the call has no PDL policy',
});

/** The same guard for a launch that something about its call forbids to be programmatic. */
export function withObstacle(pdl: PdlChooser, obstacle: string): PdlChooser {
  return (launch) => pdl({ ...launch, obstacle });
}

/**
 * The one guard of all launches of this package. Made once per instance: the environment is read
 * when it is made, never at import.
 */
export class PdlPolicy {
  readonly #config: PdlConfig;
  readonly #environment: PdlEnvironment;

  /** @throws ConfigurationError on a value that is not an integer ≥ -1 */
  constructor(config: PdlConfig = {}, environment: NodeJS.ProcessEnv = process.env) {
    checkConfig('pdl', config);
    this.#config = config;
    this.#environment = readPdlEnvironment(environment);
  }

  /**
   * The guard for launches of one weight format. `call` holds the options of the call, which win
   * over the instance's.
   *
   * @throws ConfigurationError for a bad option; the chooser throws it when `mode: 'on'` cannot be
   *   honoured on the launch's device
   */
  chooser(dtype: PdlDtype, call: PdlConfig = {}): PdlChooser {
    checkConfig('options.pdl', call);
    const limits = new Map<string, { limit: number; source: PdlSource }>(); // by architecture
    return (launch) => {
      const { sm } = launch.device;
      const found = limits.get(sm) ?? this.#limit(sm, dtype, call);
      limits.set(sm, found);
      const reason = this.#obstacle(launch, call, found.limit);
      const decision = { enabled: reason === undefined, tokens: launch.tokens, ...found };
      return reason === undefined ? decision : { ...decision, reason };
    };
  }

  #limit(sm: string, dtype: PdlDtype, call: PdlConfig): { limit: number; source: PdlSource } {
    const arch = call.perArch?.[sm] ?? this.#config.perArch?.[sm];
    const candidates: readonly (readonly [PdlSource, number | undefined])[] = [
      ['call', limitOf(call.maxTokens, dtype)],
      ['config', limitOf(this.#config.maxTokens, dtype)],
      ['environment', this.#environment.limits[dtype] ?? this.#environment.limit],
      ['arch', arch === false ? 0 : limitOf(arch, dtype)],
    ];
    for (const [source, limit] of candidates) {
      if (limit !== undefined) return { limit: checkLimit(source, limit), source };
    }
    return { limit: builtInLimit(dtype, sm), source: 'built-in' };
  }

  /**
   * Why PDL is off for this launch, or undefined. An explicit `on` turns a hardware reason into an
   * error.
   */
  #obstacle(launch: PdlLaunch, call: PdlConfig, limit: number): string | undefined {
    const mode = call.mode ?? this.#config.mode ?? 'auto';
    if (this.#environment.disabled) return 'MOE_KERNELS_DISABLE_PDL=1';
    if (mode === 'off') return "mode is 'off'";
    const hardware = hardwareObstacle(launch);
    if (hardware !== undefined) {
      if (mode === 'auto') return hardware;
      throw new ConfigurationError('pdl.mode', `'auto' or 'off' here, because ${hardware}`, "'on'");
    }
    if (launch.tokens > limit) return `${launch.tokens} tokens are more than the limit ${limit}`;
    if (!launch.waits) return 'the kernel does not wait for its predecessors';
    if (launch.obstacle !== undefined) return launch.obstacle;
    const isIdle = mode === 'auto' && launch.device.cpuLevel !== '';
    return isIdle ? 'there is nothing to hide on the CPU' : undefined;
  }
}

/** The CPU backend has programmatic launches of its own; a GPU needs compute capability 9.0. */
function hardwareObstacle({ device }: PdlLaunch): string | undefined {
  if (device.cpuLevel !== '' || Number.parseFloat(device.sm) >= 9) return undefined;
  return `the device has compute capability ${device.sm} and PDL needs 9.0`;
}

function checkConfig(name: string, config: PdlConfig): void {
  const modes: readonly unknown[] = ['auto', 'on', 'off', undefined];
  if (!modes.includes(config.mode)) {
    throw new ConfigurationError(`${name}.mode`, "'auto', 'on' or 'off'", `'${config.mode}'`);
  }
  checkLimits(`${name}.maxTokens`, config.maxTokens);
  for (const [sm, limit] of Object.entries(config.perArch ?? {})) {
    if (limit !== false) checkLimits(`${name}.perArch['${sm}']`, limit);
  }
}

function checkLimits(setting: string, limit: PdlLimit | undefined): void {
  if (limit === undefined) return;
  if (typeof limit === 'number') {
    checkLimit(setting, limit);
    return;
  }
  for (const [dtype, value] of Object.entries(limit)) checkLimit(`${setting}.${dtype}`, value);
}
