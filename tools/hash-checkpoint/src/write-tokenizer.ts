/** Tokenizer and chat template of a hash-weight model: one token a byte, and the role tokens. */

import type { ConfigJson } from './hash-config.js';

/** Writes `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja`. */
export async function writeTokenizer(_directory: string, _config: ConfigJson): Promise<void> {
  throw new Error('not yet');
}
