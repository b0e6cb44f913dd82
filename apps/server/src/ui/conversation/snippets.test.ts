import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toNode, toPython } from './snippets.js';

const body = {
  model: 'm3',
  messages: [{ role: 'user', content: `it's "x" \\n\n\t\u2028 漢 🌦 \${HOME} {}` }],
  temperature: 0.5,
  stop: ['a', 'b'],
  logprobs: true,
  tools: [],
  top_k: 3,
  chat_template_kwargs: { thinking_mode: 'enabled', none: null, no: false },
  stream: true,
};

describe('toNode', () => {
  it('is a program that sends the request and prints the answer', async () => {
    let received: unknown;
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        received = {
          key: request.headers.authorization,
          body: JSON.parse(`${Buffer.concat(parts)}`),
        };
        const chunk = JSON.stringify({ choices: [{ delta: { content: 'Fine.' } }] });
        response.setHeader('content-type', 'text/event-stream');
        response.end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const cwd = fileURLToPath(new URL('../../..', import.meta.url));
    const env = { ...process.env, ALTSTREAM_API_KEY: 'sesame' };
    const printed = await new Promise<string>((resolve, reject) => {
      const child = execFile('node', ['--input-type=module'], { cwd, env }, (error, text) =>
        error ? reject(error) : resolve(text),
      );
      child.stdin?.end(toNode(base, body));
    });
    server.close();
    expect(printed).toBe('Fine.');
    expect(received).toEqual({ key: 'Bearer sesame', body });
  });
});

const python = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!python)(`toPython${python ? '' : ' (left out: python3 is missing)'}`, () => {
  it('passes every field, those that the client does not know in extra_body', () => {
    const folder = mkdtempSync(join(tmpdir(), 'altstream-python-'));
    // In place of the client: prints what it is called with.
    writeFileSync(
      join(folder, 'openai.py'),
      `import json
class OpenAI:
    def __init__(self, base_url, api_key):
        self.chat = self.completions = self
        self.made = [base_url, api_key]
    def create(self, extra_body={}, **fields):
        print(json.dumps([self.made, fields, extra_body]))
        return []
`,
    );
    const env = { ...process.env, PYTHONPATH: folder, ALTSTREAM_API_KEY: '' };
    const ran = spawnSync('python3', ['-'], { env, input: toPython('http://h/v1', body) });
    rmSync(folder, { recursive: true });
    expect(ran.stderr.toString()).toBe('');
    const { top_k, chat_template_kwargs, ...named } = body;
    expect(JSON.parse(ran.stdout.toString())).toEqual([
      ['http://h/v1', ''],
      named,
      { top_k, chat_template_kwargs },
    ]);
  });
});
