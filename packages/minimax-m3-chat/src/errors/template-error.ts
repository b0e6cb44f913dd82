import { ChatError } from './chat-error.js';

/** What went wrong with a chat template. */
export type TemplateErrorCode =
  | 'CHAT_TEMPLATE_MISSING'
  | 'CHAT_TEMPLATE_SYNTAX'
  | 'CHAT_TEMPLATE_FAILED'
  | 'CHAT_TEMPLATE_RAISED'
  | 'CHAT_TEMPLATE_INPUT'
  | 'CHAT_TEMPLATE_TOO_LARGE';

/**
 * A template is missing or broken, or it refused the messages. `CHAT_TEMPLATE_RAISED` and
 * `CHAT_TEMPLATE_INPUT` are the caller's fault (a 400), the rest are not.
 */
export class TemplateError extends ChatError {
  declare readonly code: TemplateErrorCode;

  constructor(code: TemplateErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
