import { createRequire } from 'node:module';
import { BackendUnavailableError } from '../errors/backend-unavailable-error.js';
import { type AddonCandidate, addonCandidates, remedyOf } from './addon-candidates.js';
import type { NativeBinding } from './binding.js';
import { glibcShortfall, glibcVersion } from './glibc-floor.js';
import { packageRoot, packageVersion } from './package-root.js';
import { unloadableReason } from './unloadable-reason.js';

const nodeApiVersion = 8;
const require = createRequire(import.meta.url);

/** What became of one candidate. */
export interface LoadAttempt {
  readonly what: string;
  /** Absolute path, where the candidate has one. */
  readonly path?: string;
  /** `unused`: an earlier candidate was loaded. */
  readonly outcome: 'loaded' | 'failed' | 'unused';
  /** Why it failed, one line. */
  readonly reason?: string;
}

/**
 * Loads the addon: `CUDA_RUNTIME_BINARY`, else `CUDA_RUNTIME_BUILD_DIR`, the local build, the
 * platform package.
 *
 * @throws BackendUnavailableError NODE_TOO_OLD before any file is loaded, since a binary for a
 * newer
 *   Node-API can end the process; NO_ADDON or LIBC with the reason of each candidate
 */
export function loadBinding(): NativeBinding {
  checkNode();
  const { binding, attempts } = tryCandidates();
  if (binding) return binding;
  const reasons = attempts.map(({ what, reason = '' }) => `${what}: ${reason}`);
  const reason = unloadableReason(reasons);
  throw new BackendUnavailableError({
    api: 'load',
    reason,
    detail: `the addon could not be loaded; ${reasons.join('; ')}`,
    hint: remedyOf(reason),
  });
}

/** What the loader does with each candidate, in load order. Throws only NODE_TOO_OLD. */
export function loadAttempts(): readonly LoadAttempt[] {
  checkNode();
  return tryCandidates().attempts;
}

function tryCandidates(): { binding?: NativeBinding; attempts: readonly LoadAttempt[] } {
  const root = packageRoot();
  const version = packageVersion(root);
  const attempts: LoadAttempt[] = [];
  let binding: NativeBinding | undefined;
  for (const candidate of addonCandidates(root)) {
    const { what } = candidate;
    let place = {};
    try {
      place = { path: candidate.path() };
      if (!binding) {
        binding = load(candidate, version);
        attempts.push({ what, ...place, outcome: 'loaded' });
      } else {
        attempts.push({ what, ...place, outcome: 'unused' });
      }
    } catch (error) {
      attempts.push({ what, ...place, outcome: 'failed', reason: firstLine(error) });
    }
  }
  return binding ? { binding, attempts } : { attempts };
}

function load(candidate: AddonCandidate, version: string): NativeBinding {
  const { path, isStamped, check, glibc } = candidate;
  check?.();
  const floor = glibc();
  const shortfall = floor && glibcShortfall(floor, glibcVersion());
  if (shortfall) throw new Error(shortfall);
  const binding: NativeBinding = require(path());
  const built: unknown = JSON.parse(binding.buildInfo());
  const stamp = typeof built === 'object' && built && 'version' in built ? built.version : '';
  if (isStamped && stamp !== version) {
    throw new Error(`VERSION_SKEW: it is version ${stamp}, the package is ${version}; build again`);
  }
  return binding;
}

function checkNode(): void {
  const napi = Number(process.versions['napi']);
  if (napi >= nodeApiVersion) return;
  throw new BackendUnavailableError({
    api: 'load',
    reason: 'NODE_TOO_OLD',
    detail: `Node ${process.versions.node} offers Node-API ${napi}, the addon needs ${nodeApiVersion}`,
    hint: 'Use Node 20.19 or newer',
  });
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}
