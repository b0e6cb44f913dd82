import type { NativeBinding } from './binding.js';
import { CommandBlock } from './command-block.js';
import { Completions } from './completions.js';
import { loadBinding } from './load-binding.js';

/** What one JavaScript environment (main thread or worker) has exactly once. */
export interface Environment {
  readonly binding: NativeBinding;
  readonly block: CommandBlock;
  readonly completions: Completions;
}

let loaded: Environment | undefined;

/**
 * Loads the addon on first use.
 * @throws BackendUnavailableError with a reason for each candidate
 */
export function environment(): Environment {
  loaded ??= start(loadBinding());
  return loaded;
}

function start(binding: NativeBinding): Environment {
  const completions = new Completions((on) => binding.refCompletions(on));
  const block = new CommandBlock(binding.initialize(completions.handle));
  return { binding, block, completions };
}
