// Renders chat templates and tokenizes, away from the main thread: a template is foreign code and a
// long prompt takes seconds.

import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ChatTemplate, loadTemplate, loadTokenizer } from '@altstream/minimax-m3-chat';
import { toWireError } from './messages.js';
import type {
  FromText,
  TextJob,
  TextResult,
  TextTooLong,
  TextWorkerOptions,
  ToText,
} from './text-messages.js';

if (!parentPort) throw new Error('text-worker runs as a worker thread only');
const port = parentPort;
const options = workerData as TextWorkerOptions;
const tokenizer = await loadTokenizer(options.model);
// Text completions need no template, so a missing one is an error of chat requests only.
const template = await loadChatTemplate().then(
  (value) => ({ value }),
  (error: unknown) => ({ error }),
);

port.on('message', ({ id, job }: ToText) => {
  let answer: FromText;
  try {
    answer = { id, result: run(job) };
  } catch (error) {
    answer = { id, error: toWireError(error) };
  }
  port.postMessage(answer);
});

async function loadChatTemplate(): Promise<ChatTemplate> {
  if (options.template === undefined) return loadTemplate(options.model, tokenizer.addedTexts);
  return new ChatTemplate(await readFile(options.template, 'utf8'), tokenizer.addedTexts);
}

function run(job: TextJob): TextResult | TextTooLong {
  if (job.kind === 'text') {
    return { ids: tokenizer.encode(job.text, { specials: true }), text: job.text };
  }
  if ('error' in template) throw template.error;
  const rendered = template.value.render(job.input);
  // Tools and thoughts count too, and only the template knows what it shows of them.
  const bytes = Buffer.byteLength(rendered.text);
  if (bytes > job.mostBytes) return { tooLongBytes: bytes };
  const ids = job.kind === 'render' ? [] : tokenizer.encodePrompt(rendered);
  return { ids, text: rendered.text };
}
