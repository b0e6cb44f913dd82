// Renders chat templates and tokenizes, away from the main thread: a template is foreign code and a
// long prompt takes seconds.

import { readFile } from 'node:fs/promises';
import { ChatTemplate, loadTemplate, loadTokenizer } from '@altstream/minimax-m3-chat';
import { toWireError } from '../messages.js';
import { ownThread } from '../threads/thread-time.js';
import { workerPort } from '../threads/worker-port.js';
import type {
  FromText,
  TextJob,
  TextResult,
  TextSeconds,
  TextStage,
  TextTooLong,
  TextWorkerOptions,
  ToText,
} from './text-messages.js';

const { port, options, post } = workerPort<TextWorkerOptions, FromText>('text-worker');
const tokenizer = await loadTokenizer(options.model);
// Text completions need no template, so a missing one is an error of chat requests only.
const template = await loadChatTemplate().then(
  (value) => ({ value }),
  (error: unknown) => ({ error }),
);

port.on('message', ({ id, job }: ToText) => {
  try {
    post({ id, ...run(id, job) });
  } catch (error) {
    post({ id, error: toWireError(error) });
  }
});

async function loadChatTemplate(): Promise<ChatTemplate> {
  if (options.template === undefined) return loadTemplate(options.model, tokenizer.addedTexts);
  return new ChatTemplate(await readFile(options.template, 'utf8'), tokenizer.addedTexts);
}

interface Done {
  readonly result: TextResult | TextTooLong;
  readonly seconds: TextSeconds;
}

function run(id: number, job: TextJob): Done {
  if (job.kind === 'text') {
    const { text } = job;
    const [ids, tokenize] = timed(id, 'tokenizing', () =>
      tokenizer.encode(text, { specials: true }),
    );
    return { result: { ids, text }, seconds: { tokenize } };
  }
  const [rendered, seconds] = timed(id, 'rendering', () => templateOf(job).render(job.input));
  // Tools and thoughts count too, and only the template knows what it shows of them.
  const bytes = Buffer.byteLength(rendered.text);
  if (bytes > job.mostBytes) {
    return { result: { tooLongBytes: bytes }, seconds: { template: seconds } };
  }
  const { text } = rendered;
  if (job.kind === 'render') return { result: { ids: [], text }, seconds: { template: seconds } };
  const [ids, tokenize] = timed(id, 'tokenizing', () => tokenizer.encodePrompt(rendered));
  return { result: { ids, text }, seconds: { template: seconds, tokenize } };
}

function templateOf({ template: own }: Extract<TextJob, { input: unknown }>): ChatTemplate {
  if (own !== undefined) return new ChatTemplate(own, tokenizer.addedTexts);
  if ('error' in template) throw template.error;
  return template.value;
}

/** Tells the main thread what begins, which has an eye on it from then on. */
function timed<T>(id: number, stage: TextStage, work: () => T): [value: T, seconds: number] {
  post({ id, stage, thread: ownThread() });
  const start = performance.now();
  return [work(), (performance.now() - start) / 1000];
}
