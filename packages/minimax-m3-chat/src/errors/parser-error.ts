import { ChatError } from './chat-error.js';

/** How a text machine was misused. Model output itself never throws. */
export type ParserErrorCode = 'CHAT_PARSER_FINISHED' | 'CHAT_PARSER_OPTION';

/** A parser, detokenizer or stop matcher was misused by its caller. */
export class ParserError extends ChatError {
  declare readonly code: ParserErrorCode;

  constructor(code: ParserErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
