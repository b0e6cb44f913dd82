import type { Handle } from './binding.js';
import { environment } from './environment.js';
import { guarded } from './guarded.js';

/**
 * Starts a call that works on the addon's task thread, so that the event loop goes on.
 * @returns the handle of what it made
 */
export async function runTask(start: (token: number) => void): Promise<Handle> {
  const { binding, completions } = environment();
  let task = 0;
  try {
    await completions.wait((token) => {
      task = token;
      guarded(() => start(token));
    });
  } catch (error) {
    binding.settleTask(task);
    throw error;
  }
  return binding.settleTask(task);
}

/** The same for a call that gives a text. */
export async function runTextTask(start: (token: number) => void): Promise<string> {
  let task = 0;
  await runTask((token) => {
    task = token;
    start(token);
  });
  return environment().binding.takeText(task);
}
