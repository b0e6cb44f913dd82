import type { TextTask } from './text-messages.js';

/** Characters that a job holds while it waits: of its text, or of all that is rendered. */
export function charactersOf(task: TextTask): number {
  if (task.kind === 'text') return task.text.length;
  let characters = task.template?.length ?? 0;
  const rest: unknown[] = [task.input];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        characters += key.length;
        rest.push(item);
      }
    }
  }
  return characters;
}
