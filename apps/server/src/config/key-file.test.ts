import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readKeyFile } from './key-file.js';

describe('a file of keys', () => {
  let folder: string;
  const file = (text: string, mode = 0o600): string => {
    const path = join(folder, 'keys');
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'altstream-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has one key a line, and comments', () => {
    expect(readKeyFile(file('# of the team\none #ana\n\n two#3\r\n'))).toEqual(['one', 'two#3']);
  });

  it.each([
    ['one', 0o644, /read by everybody/],
    ['# none\n', 0o600, /has no key/],
  ])('%j with mode %o is refused', (text, mode, message) => {
    expect(() => readKeyFile(file(text, mode))).toThrow(message);
  });

  it('must exist', () => {
    expect(() => readKeyFile(join(folder, 'absent'))).toThrow(/cannot be read/);
  });
});
