import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ArgumentError, KernelImageError, open } from '../../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'broken-package-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a kernel without a CPU function is refused by name; its package loads', async () => {
  const runtime = await open({ backend: 'cpu', isolated: true });
  const built = fileURLToPath(new URL('../../build/Release/test_kernels/', import.meta.url));
  const manifest = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8'));
  const kernels = manifest.kernels.map((kernel: { name: string }) =>
    kernel.name === 'test_empty' ? { ...kernel, cpuEntry: 'test_nowhere' } : kernel,
  );
  symlinkSync(join(built, manifest.cpu), join(folder, manifest.cpu));
  const file = join(folder, 'without-cpu.json');
  writeFileSync(file, JSON.stringify({ ...manifest, kernels }));
  const module = await runtime.loadModule({ manifest: file });
  expect(() => module.kernel('test_empty')).toThrow(
    expect.objectContaining({
      code: 'CRT_NO_CPU_KERNEL',
      message: expect.stringContaining('test_empty'),
    }),
  );
  expect(module.kernel('test_fill').name).toBe('test_fill');
  await runtime.dispose();
});

test('a package.json that is not JSON, and a manifest that is no file', async () => {
  const runtime = await open({ backend: 'cpu', isolated: true });
  const file = join(folder, 'package.json');
  writeFileSync(file, '{ "name": ');
  const from = pathToFileURL(join(folder, 'index.js')).href;
  const load = runtime.loadModule({ package: 'x', from });
  await expect(load).rejects.toThrow(ArgumentError);
  const again = runtime.loadModule({ package: 'x', from });
  await expect(again).rejects.toThrow(`\`source.from\` lies under ${file}, which is not readable`);
  mkdirSync(join(folder, 'manifest.json'));
  const long = join(folder, 'm'.repeat(5000));
  for (const manifest of [join(folder, 'manifest.json'), long]) {
    await expect(runtime.loadModule({ manifest })).rejects.toThrow(KernelImageError);
  }
  await runtime.dispose();
});
