import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SuitePrompt } from '../../src/eval/suite-prompt.js';

/** A prompt whose question is its id. */
export function suitePromptOf(id: string, more: Partial<SuitePrompt> = {}): SuitePrompt {
  return {
    id,
    skill: 'sums',
    thinking: 'disabled',
    messages: [{ role: 'user', content: id }],
    max_tokens: 8,
    check: { type: 'equals', value: id },
    ...more,
  };
}

/** A suite in a folder that lives as long as a test file. */
export function writeSuite(prompts: readonly SuitePrompt[]): {
  readonly folder: string;
  readonly path: string;
  remove(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-suite-'));
  const path = join(folder, 'suite.jsonl');
  writeFileSync(path, prompts.map((prompt) => `${JSON.stringify(prompt)}\n`).join(''));
  return { folder, path, remove: () => rmSync(folder, { recursive: true }) };
}
