export { Detokenizer, type DetokenizerOptions } from './detokenizer.js';
export {
  ChatError,
  ParserError,
  type ParserErrorCode,
  TemplateError,
  type TemplateErrorCode,
  TokenizerError,
  type TokenizerErrorCode,
} from './errors/index.js';
export {
  type EngineFinish,
  M3OutputParser,
  type M3OutputParserOptions,
  type ParsedOutput,
  type ParsedToolCall,
  parseOutput,
} from './output-parser.js';
export {
  ReasoningParser,
  type ReasoningPiece,
  type ReasoningStart,
  reasoningStartOf,
} from './reasoning-parser.js';
export { type StopMatch, StopMatcher } from './stop-matcher.js';
export { defaultChatTemplate } from './template/default-template.js';
export type { ChatMessage, ChatToolCall, TextPart, ToolDefinition } from './template/messages.js';
export {
  type ThinkingMode,
  type ThinkingRequest,
  thinkingModeOf,
} from './template/thinking-mode.js';
export { ChatTemplate, loadTemplate, type RenderedPrompt, type RenderInput } from './template.js';
export { controlTexts } from './text/control-texts.js';
export type { TextSpan } from './text/text-span.js';
export { byteToCharacter } from './tokenizer/byte-alphabet.js';
export { ByteTable, type ByteTableData } from './tokenizer/byte-table.js';
export {
  type ByteTokenizerFiles,
  type ByteTokenizerOptions,
  buildByteTokenizer,
} from './tokenizer/byte-tokenizer.js';
export { ChatTokenizer, type EncodeOptions, loadTokenizer } from './tokenizer.js';
export { ToolCallParser, type ToolCallParserOptions } from './tool-call-parser.js';
export type { OutputDelta, ToolCallEnd, ToolCallStart } from './tool-calls/output-delta.js';
export type { ParserFaults } from './tool-calls/parser-faults.js';
export { ValueSchema } from './tool-calls/schema.js';
export { TagNames } from './tool-calls/tag-names.js';
