import { expect, test } from 'vitest';
import { unloadableReason } from './unloadable-reason.js';

test.each([
  ["local build: /lib/libc.so.6: version `GLIBC_2.38' not found (required by x.node)", 'LIBC'],
  ['platform package: Error relocating x.node: __memcpy_chk: symbol not found', 'LIBC'],
  ['x: Error loading shared library ld-linux-x86-64.so.2: No such file or directory', 'LIBC'],
  ['platform package: LIBC: it needs glibc 2.35 or newer, this system has glibc 2.31', 'LIBC'],
  ['local build: Cannot find module build/Release/cuda_runtime.node', 'NO_ADDON'],
  ['local build: VERSION_SKEW: it is version 1, the package is 2; build again', 'NO_ADDON'],
])('%s is %s', (message, reason) => {
  expect(unloadableReason(['platform package: Cannot find module', message])).toBe(reason);
});
