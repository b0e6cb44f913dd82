import { describe, test } from 'vitest';
import { probeSync } from '../../src/index.js';
import { isCudaRequired } from '../../src/testing/required-backend.js';

/** A backend by name. */
export type BackendName = 'cpu' | 'cuda';

/**
 * Defines the same tests for each backend that this machine has. A missing CUDA is one skipped test
 * whose title has the reason, or a failing one where CUDA is required.
 */
export function onEachBackend(define: (backend: BackendName) => void): void {
  for (const { backend, usable, reason, detail } of probeSync()) {
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
