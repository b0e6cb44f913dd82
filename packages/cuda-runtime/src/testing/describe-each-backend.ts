import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Device, Runtime, Stream } from '../contract.js';
import { open } from '../open.js';
import type { OpenOptions } from '../open-options.js';
import { machineReportsSync } from '../probe.js';
import { cpuLevels } from './cpu-levels.js';
import { isCudaRequired } from './required-backend.js';

/** What a parity test works with. */
export interface BackendContext {
  readonly stream: Stream;
  readonly device: Device;
  readonly runtime: Runtime;
}

/**
 * Runs every case on every backend present: CUDA once, the CPU once per instruction-set level. A
 * backend that is missing becomes one skipped test whose title has the reason; a failing one if it
 * is CUDA and `CUDA_RUNTIME_REQUIRE_CUDA` is 1.
 */
export function describeEachBackend<T extends { readonly name: string }>(
  name: string,
  cases: readonly T[],
  body: (context: BackendContext, testCase: T) => Promise<void> | void,
): void {
  for (const report of machineReportsSync()) {
    if (!report.usable) {
      const reason = `${report.reason}, ${firstLine(report.detail)}`;
      const isRequired = report.backend === 'cuda' && isCudaRequired();
      test(`${name} on ${report.backend}: ${reason}`, ({ skip }) => {
        if (isRequired)
          throw new Error(`CUDA is required (CUDA_RUNTIME_REQUIRE_CUDA=1): ${reason}`);
        skip(reason);
      });
    } else if (report.backend === 'cuda') {
      describeOn(`${name} on cuda`, { backend: 'cuda' }, cases, body);
    } else {
      for (const level of cpuLevels()) {
        const options = { backend: 'cpu', isolated: true, cpu: { level } } as const;
        describeOn(`${name} on cpu ${level}`, options, cases, body);
      }
    }
  }
}

function describeOn<T extends { readonly name: string }>(
  title: string,
  options: OpenOptions,
  cases: readonly T[],
  body: (context: BackendContext, testCase: T) => Promise<void> | void,
): void {
  describe(title, () => {
    let runtime: Runtime;
    beforeAll(async () => {
      runtime = await open(options);
    });
    afterAll(() => runtime.dispose());
    for (const testCase of cases) {
      test(testCase.name, async () => {
        const device = runtime.device();
        const stream = device.createStream({ name: 'test' });
        try {
          await body({ stream, device, runtime }, testCase);
          await stream.synchronize();
        } finally {
          stream.dispose();
        }
      });
    }
  });
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
