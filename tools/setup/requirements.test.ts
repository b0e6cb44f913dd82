import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkCmake, checkNode, findTool } from './requirements.mjs';

const testCommand = fileURLToPath(new URL('./test.mjs', import.meta.url));

describe('what the machine must have', () => {
  it('accepts Node 20.19 and everything newer', () => {
    for (const version of ['20.19.0', '20.20.2', '22.1.0', '24.0.0']) checkNode(version);
  });

  it('refuses an older Node with the version and the remedy', () => {
    expect(() => checkNode('20.18.9')).toThrow(/20\.18\.9 is too old, expected 20\.19/);
    expect(() => checkNode('18.20.0')).toThrow(/install a current Node/);
  });

  it('refuses a cmake that is too old', () => {
    checkCmake('cmake version 3.24.0');
    checkCmake('cmake version 4.1.2');
    expect(() => checkCmake('cmake version 3.22.1')).toThrow(
      /3\.22\.1" is too old, expected cmake 3\.24/,
    );
  });

  it('names a missing tool, why it is needed and how to get it', () => {
    expect(() => findTool('no-such-tool-here', 'it builds', 'apt-get install it')).toThrow(
      /no-such-tool-here was not found: it builds\. Install it \(apt-get install it\)/,
    );
  });

  it('ends with one message and exit code 1 when no compiler is there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'setup-'));
    writeFileSync(join(folder, 'cmake'), '#!/bin/sh\necho cmake version 3.25.1\n');
    chmodSync(join(folder, 'cmake'), 0o755);
    const result = spawnSync(process.execPath, [testCommand], {
      encoding: 'utf8',
      env: { PATH: folder, CXX: '' },
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(
      /altstream: no C\+\+ compiler was found \(tried c\+\+, g\+\+, clang\+\+\).*apt-get install g\+\+/,
    );
  });

  it('ends with one message and exit code 1 when cmake is not there', () => {
    const result = spawnSync(process.execPath, [testCommand], {
      encoding: 'utf8',
      env: { PATH: '/nonexistent', CXX: '' },
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/altstream: cmake was not found/);
    expect(result.stderr).not.toMatch(/at .*\.mjs/);
  });
});
