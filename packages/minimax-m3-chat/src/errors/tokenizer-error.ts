import { ChatError } from './chat-error.js';

/** What went wrong with a tokenizer or its files. */
export type TokenizerErrorCode =
  | 'CHAT_TOKENIZER_MISSING'
  | 'CHAT_TOKENIZER_BROKEN'
  | 'CHAT_TOKENIZER_UNKNOWN_TEXT'
  | 'CHAT_TOKEN_ID'
  | 'CHAT_VOCABULARY';

/** A tokenizer file is missing or broken, or an id or text is not part of it. */
export class TokenizerError extends ChatError {
  declare readonly code: TokenizerErrorCode;

  constructor(code: TokenizerErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
