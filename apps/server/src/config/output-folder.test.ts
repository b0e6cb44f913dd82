import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolderOf, makeOutputFolder } from './output-folder.js';

const root = mkdtempSync(join(tmpdir(), 'altstream-output-'));
afterAll(() => rmSync(root, { recursive: true }));

const refusal = (problem: RegExp) =>
  expect.objectContaining({ exitCode: 2, message: expect.stringMatching(problem) });

describe('a folder for what is written', () => {
  it('is made with those above it, and may be there', () => {
    const folder = join(root, 'a', 'b', 'c');
    makeOutputFolder(folder, '--result-dir');
    makeOutputFolder(`${folder}/./`, '--result-dir');
    makeFolderOf(join(root, 'x', '..', 'y', 'file.json'), '--json');
    expect(statSync(folder).isDirectory()).toBe(true);
    expect(statSync(join(root, 'y')).isDirectory()).toBe(true);
  });

  it('may lie behind a link', () => {
    mkdirSync(join(root, 'target'));
    symlinkSync(join(root, 'target'), join(root, 'link'));
    makeOutputFolder(join(root, 'link', 'inner'), '--result-dir');
    expect(statSync(join(root, 'target', 'inner')).isDirectory()).toBe(true);
  });

  it('is refused where a file is in its way', () => {
    writeFileSync(join(root, 'file'), '');
    for (const folder of [join(root, 'file'), join(root, 'file', 'x', 'y')]) {
      const make = () => makeOutputFolder(folder, '--result-dir X');
      expect(make).toThrow(refusal(/^--result-dir X cannot be written: (EEXIST|ENOTDIR)/));
    }
  });

  it('is refused below a link that leads nowhere', () => {
    symlinkSync(join(root, 'nowhere'), join(root, 'broken'));
    const make = () => makeOutputFolder(join(root, 'broken', 'x'), '--result-dir X');
    expect(make).toThrow(refusal(/^--result-dir X cannot be written: EEXIST/));
  });

  // In a process of its own, which can be ended: Node's own way never comes back from there.
  it.skipIf(process.platform !== 'linux')(
    'is refused below /proc at once',
    async () => {
      const module = JSON.stringify(new URL('./output-folder.ts', import.meta.url));
      const source = `
      const { makeOutputFolder } = await import(${module});
      for (const folder of ['/proc/zz', '/proc/x/y']) {
        try { makeOutputFolder(folder, '--crash-dir ' + folder); }
        catch ({ exitCode, message }) { console.log(exitCode, message); }
      }`;
      const flags = ['--import', 'tsx', '--conditions=@altstream/source', '--input-type=module'];
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', source], {
        timeout: 50_000,
        killSignal: 'SIGKILL',
      });
      expect(stdout.trim().split('\n')).toEqual([
        expect.stringMatching(/^2 --crash-dir \/proc\/zz cannot be written: E/),
        expect.stringMatching(/^2 --crash-dir \/proc\/x\/y cannot be written: E/),
      ]);
    },
    60_000,
  );
});
