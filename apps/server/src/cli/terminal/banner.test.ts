import { expect, it } from 'vitest';
import { banner } from './banner.js';

const info = {
  vocabSize: 512,
  maxModelLength: 40_000,
  modelMaxLength: 100_000,
  pageTokens: 128,
  pages: 320,
  maxSequences: 8,
  maxWaiting: 32,
  maxTenantRequests: 40,
  report: {
    model: { outputs: 'of the checkpoint' },
    engine: { decode: { buckets: [{ rows: 1 }, { rows: 2 }, { rows: 8 }] } },
  },
  readyMs: 1234,
};
const textless = { logsContent: false, tracesContent: false };
const server = { url: 'http://127.0.0.1:8000', modelName: 'M3' };

it('the banner says how many sequences of which length run at once, and what is captured', () => {
  const text = banner(server, info, { isOpen: true, servesUi: true, ...textless });
  expect(text).toContain('  Altstream serves M3 at http://127.0.0.1:8000/v1\n');
  expect(text).toContain('  ready       1.23 s after the start of the process\n');
  expect(text).toContain('  KV cache    40960 tokens in 320 pages of 128\n');
  // 313 pages a sequence at full length.
  expect(text).toContain('  sequences   8 at once (1 at full length), 32 waiting\n');
  expect(text).toContain('  of length   8 of 4096 tokens, 1 of 32768 tokens\n');
  expect(text).toContain('  graphs      decode of 1, 2, 8 rows\n');
  expect(text).toContain('  web pages   http://127.0.0.1:8000/ui/\n');
  expect(text).toContain('  API key     none');
  expect(text).not.toContain('authorization');
});

it('the banner leaves out what is not so', () => {
  const report = { model: { outputs: 'mean nothing: dummy weights' }, engine: {} };
  const text = banner(
    server,
    { ...info, maxModelLength: 4096, report },
    { isOpen: false, servesUi: false, logsContent: true, tracesContent: true },
  );
  expect(text).toContain('  ANSWERS MEAN NOTHING: DUMMY WEIGHTS\n');
  expect(text).toContain('  graphs      none');
  expect(text).toContain("-H 'authorization: Bearer KEY'");
  expect(text).toContain('  THE LOG HOLDS PROMPTS AND ANSWERS (--log-content)\n');
  expect(text).toContain('  TRACES HOLD PROMPTS AND ANSWERS (--otel-capture-content)\n');
  expect(text).not.toContain('of length');
  expect(text).not.toContain('/ui/');
});

it('the banner of a Unix socket says how to reach it', () => {
  const access = { isOpen: true, servesUi: true, ...textless };
  const text = banner({ ...server, url: 'unix:/run/m3.sock' }, info, access);
  expect(text).toContain('  Altstream serves M3 at unix:/run/m3.sock\n');
  expect(text).toContain('  curl --unix-socket /run/m3.sock http://localhost/v1/chat/completions ');
  expect(text).not.toMatch(/web pages|PROMPTS/);
});
