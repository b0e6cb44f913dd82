import type { TextResult, TextTask } from './text-messages.js';
import { TextPool } from './text-pool.js';

/**
 * Does one task in a thread of its own, with the limits that a server's text workers have: a
 * template is foreign code, which may not end.
 *
 * @param folder of the tokenizer and the template
 * @throws ApiError when it takes too long or too much memory, EngineWorkerError as the task does
 */
export async function prepareApart(folder: string, task: TextTask): Promise<TextResult> {
  const pool = new TextPool({
    ...{ model: folder, template: undefined, workers: 1 },
    mostWaiting: { jobs: 1, characters: Number.POSITIVE_INFINITY },
  });
  try {
    const nobodyLeaves = new AbortController().signal;
    const job = { ...task, mostBytes: Number.POSITIVE_INFINITY };
    const result = await pool.run(job, { tenant: '', signal: nobodyLeaves });
    if ('ids' in result) return result;
    throw new Error(`a prompt of ${result.tooLongBytes} bytes was refused without a bound`);
  } finally {
    await pool.close();
  }
}
