import { describe, test } from 'vitest';
import { type BackendName, machineReportsSync } from '../probe.js';
import { isCudaRequired } from './required-backend.js';

/**
 * Defines the same tests for each backend that this machine has, in a suite `on cpu` and one
 * `on cuda`: for tests that open runtimes of their own. A missing backend is one skipped test whose
 * title has the reason; a failing one if it is CUDA and `CUDA_RUNTIME_REQUIRE_CUDA` is 1.
 */
export function onEachBackend(define: (backend: BackendName) => void): void {
  for (const { backend, usable, reason, detail } of machineReportsSync()) {
    if (usable) describe(`on ${backend}`, () => define(backend));
    else missing(backend, `${reason}, ${detail.split('\n')[0]}`);
  }
}

function missing(backend: BackendName, reason: string): void {
  test(`on ${backend}: ${reason}`, ({ skip }) => {
    if (backend === 'cuda' && isCudaRequired()) throw new Error(`CUDA is required: ${reason}`);
    skip(reason);
  });
}
