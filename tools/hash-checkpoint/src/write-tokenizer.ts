/**
 * Tokenizer and chat template of a hash-weight model: bytes, learned merges and M3's role tokens.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildByteTokenizer, controlTexts, defaultChatTemplate } from '@altstream/minimax-m3-chat';
import { textConfig } from './config-variants.js';
import type { ConfigJson } from './hash-config.js';

/**
 * Writes `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja`. Every id of the
 * vocabulary exists; image and video tokens get the ids that the config gives them.
 *
 * @throws TokenizerError when the vocabulary is too small for bytes and role tokens
 */
export async function writeTokenizer(directory: string, config: ConfigJson): Promise<void> {
  const vocabSize = Number(textConfig(config)['vocab_size']);
  const { tokenizerJson, tokenizerConfig } = buildByteTokenizer({
    vocabSize,
    specials: {
      ...idOf(controlTexts.image, config['image_token_index'], vocabSize),
      ...idOf(controlTexts.video, config['video_token_index'], vocabSize),
    },
  });
  await writeFile(join(directory, 'tokenizer.json'), toText(tokenizerJson));
  await writeFile(join(directory, 'tokenizer_config.json'), toText(tokenizerConfig));
  await writeFile(join(directory, 'chat_template.jinja'), defaultChatTemplate);
}

function idOf(text: string, id: unknown, vocabSize: number): Record<string, number> {
  return typeof id === 'number' && id < vocabSize ? { [text]: id } : {};
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
