import { controlTexts } from '@altstream/minimax-m3-chat';
import type { ServerContext } from '../server-context.js';
import type { GrammarWorkerOptions } from '../worker/grammar/grammar-messages.js';

/** What grammar workers know of the model. Its vocabulary may be larger than the tokenizer's. */
export function grammarWorkerOptions({
  tokenizer,
  info,
  defaults,
}: Pick<ServerContext, 'tokenizer' | 'info' | 'defaults'>): GrammarWorkerOptions {
  return {
    tokens: tokenizer.bytes.data,
    vocabSize: info?.vocabSize ?? tokenizer.vocabSize,
    eosTokenIds: defaults.eosTokenIds,
    markers: {
      thinkOpen: tokenizer.specialId(controlTexts.thinkOpen),
      thinkClose: tokenizer.specialId(controlTexts.thinkClose),
      namespace: tokenizer.specialId(controlTexts.namespace),
    },
  };
}
