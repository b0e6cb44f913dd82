import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoModelFolder, demoSuite } from '../src/demo-model.js';
import { limitSkills, readSuite } from '../src/eval/read-suite.js';
import type { SuitePrompt } from '../src/eval/suite-prompt.js';
import { altstream } from './makers/altstream.js';
import { demoIsLeftOut, leftOutBecause, readDemoSuite } from './makers/demo-model.js';
import { type Serving, startServing } from './makers/serving.js';
import { writeSuite } from './makers/suite-file.js';

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
    const at = ['--suite', 'demo', '--base-url', server.url, '--limit', '1', '--json', json];
    const { code, stdout, stderr } = await altstream('eval', ...at, '--min-accuracy', '0.9');
    const skills = new Set(readDemoSuite().map(({ skill }) => skill));
    expect([code, stderr], stdout).toEqual([0, '']);
    const report = JSON.parse(readFileSync(json, 'utf8')) as {
      skills: { skill: string; prompts: number; failed: number }[];
    };
    rmSync(folder, { recursive: true });
    expect(new Set(report.skills.map(({ skill }) => skill))).toEqual(skills);
    expect(report.skills.every(({ prompts, failed }) => prompts === 1 && failed === 0)).toBe(true);
  }, 120_000);

  it('is right as often as its card says: two skills as a whole, some prompts of the others', async () => {
    const isWhole = ({ skill }: SuitePrompt): boolean =>
      ['arithmetic', 'tool_call'].includes(skill);
    // Facts far back take long, and demo-model.e2e asks for them.
    const prompts = readSuite(demoSuite()).filter(({ skill }) => skill !== 'needle');
    const others = limitSkills(prompts, 5).filter((prompt) => !isWhole(prompt));
    const suite = writeSuite([...prompts.filter(isWhole), ...others]);
    const at = ['--suite', suite.path, '--base-url', server.url];
    // The card says 98 to 99 % of all, and these skills without a mistake; another processor rounds
    // otherwise.
    const least = ['0.97', 'arithmetic=0.95', 'tool_call=0.95'];
    const { code, stdout, stderr } = await altstream('eval', ...at, '--min-accuracy', ...least);
    suite.remove();
    expect([code, stderr], stdout).toEqual([0, '']);
    expect(stdout).toMatch(/^all +115 /m);
  }, 120_000);

  it('says now what the README shows', async () => {
    const script = join(root, 'tools/demo-model/transcript.mjs');
    const readme = join(root, 'README.md');
    await promisify(execFile)(process.execPath, [script, '--check', readme]);
  });
});
