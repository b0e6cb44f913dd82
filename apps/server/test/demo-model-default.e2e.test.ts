import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoModelFolder } from '../src/demo-model.js';
import { altstream } from './makers/altstream.js';
import { demoIsLeftOut, leftOutBecause, readDemoSuite } from './makers/demo-model.js';
import { type Serving, startServing } from './makers/serving.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe.skipIf(demoIsLeftOut)(`without a word on which model${leftOutBecause}`, () => {
  let server: Serving;

  beforeAll(async () => {
    demoModelFolder(); // throws without weights
    server = await startServing();
  }, 60_000);
  afterAll(() => server?.stop());

  it('serves the demo model when no model is named, and says so', async () => {
    const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as {
      data: { id: string }[];
    };
    expect(data.map(({ id }) => id)).toEqual(['minimax-m3-tiny']);
    expect(server.output()).toContain('no model was named: this is the demo model');
  });

  it('answers in altstream chat, which prints the decode speed', async () => {
    const at = ['--base-url', server.url, '--temperature', '0', '--max-tokens', '200'];
    const { code, stdout, stderr } = await altstream('chat', ...at, '--message', 'Who are you?');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Altstream Tiny')]);
    expect(stderr).toMatch(/^\[\d+ tokens, \d+\.\d tokens\/s, first after \d+ ms, \d+\.\d\d s\]$/m);
  });

  it('is asked by altstream eval about every skill of the suite in its package', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-eval-'));
    const json = join(folder, 'report.json');
    const at = ['--suite', 'demo', '--base-url', server.url, '--limit', '2', '--json', json];
    const { code, stdout, stderr } = await altstream('eval', ...at, '--min-accuracy', '0.75');
    const skills = new Set(readDemoSuite().map(({ skill }) => skill));
    expect([code, stderr], stdout).toEqual([0, '']);
    const report = JSON.parse(readFileSync(json, 'utf8')) as {
      skills: { skill: string; prompts: number; failed: number }[];
    };
    rmSync(folder, { recursive: true });
    expect(new Set(report.skills.map(({ skill }) => skill))).toEqual(skills);
    expect(report.skills.every(({ prompts, failed }) => prompts === 2 && failed === 0)).toBe(true);
  }, 120_000);

  it('says now what the README shows', async () => {
    const script = join(root, 'tools/demo-model/transcript.mjs');
    const readme = join(root, 'README.md');
    await promisify(execFile)(process.execPath, [script, '--check', readme]);
  });
});
