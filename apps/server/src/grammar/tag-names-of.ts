import { TagNames } from '@altstream/minimax-m3-chat';
import type { ChatRequest } from '../openai/chat-request.js';

/**
 * The names of parameters of all tools of a request, those that cannot be called too. Made when
 * they are first wanted, and once: a request may have many names, and many choices.
 */
export function tagNamesOf({ tools }: Pick<ChatRequest, 'tools'>): () => TagNames {
  let names: TagNames | undefined;
  return () => {
    names ??= new TagNames((tools ?? []).map((tool) => tool.function.parameters));
    return names;
  };
}
