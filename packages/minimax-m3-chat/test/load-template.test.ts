import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTemplate } from '../src/index.js';

let folder = '';
const config = (value: unknown) =>
  writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(value));

async function rendered(): Promise<string> {
  const template = await loadTemplate(folder, []);
  return template.render({ messages: [] }).text;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chat-template-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a folder without a template says what to copy', async () => {
  const missing = expect.objectContaining({ code: 'CHAT_TEMPLATE_MISSING' });
  await expect(rendered()).rejects.toThrow(missing);
  await config({ chat_template: [{ name: 'rag', template: 'x' }] });
  await expect(rendered()).rejects.toThrow(missing);
  await config([]);
  await expect(rendered()).rejects.toThrow(/copy chat_template.jinja/);
  await writeFile(join(folder, 'tokenizer_config.json'), '{');
  await expect(rendered()).rejects.toThrow(/tokenizer_config.json is not JSON/);
});

test('takes the template of tokenizer_config.json, alone or from a list', async () => {
  await config({ chat_template: 'alone' });
  expect(await rendered()).toBe('alone');
  await config({
    chat_template: [
      { name: 'rag', template: 'x' },
      { name: 'default', template: 'listed' },
    ],
  });
  expect(await rendered()).toBe('listed');
});

test('prefers chat_template.jinja', async () => {
  await config({ chat_template: 'config' });
  await writeFile(join(folder, 'chat_template.jinja'), 'file {{ add_generation_prompt }}');
  expect(await rendered()).toBe('file true');
});
