import { expect, test } from 'vitest';
import type { KernelAttributes } from '../launch/kernel-attributes.js';
import { dependentConfig } from './dependent-config.js';

const kernel = (waits: boolean) => ({
  attributes: { name: 'k', pdl: { waits, triggers: false } } as KernelAttributes,
});
const config = { grid: [2], block: [32], sharedBytes: 8 } as const;

test('a kernel that waits is launched programmatically where that is asked for', () => {
  const dependent = { ...config, programmatic: { serialize: true } };
  expect(dependentConfig(kernel(true), config, { programmatic: true })).toEqual(dependent);
});

test('anything else is launched as planned', () => {
  expect(dependentConfig(kernel(false), config, { programmatic: true })).toBe(config);
  expect(dependentConfig(kernel(true), config, { programmatic: false })).toBe(config);
  expect(dependentConfig(kernel(true), config, {})).toBe(config);
});
