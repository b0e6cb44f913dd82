export { ChatError } from './chat-error.js';
export { ParserError, type ParserErrorCode } from './parser-error.js';
export { TemplateError, type TemplateErrorCode } from './template-error.js';
export { TokenizerError, type TokenizerErrorCode } from './tokenizer-error.js';
