import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ArgumentError, KernelImageError, open } from '../../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'broken-package-'));
afterAll(() => rmSync(folder, { recursive: true }));

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
