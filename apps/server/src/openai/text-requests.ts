import { z } from 'zod';
import { chatPromptFields, checkMessages } from './chat-request.js';
import { fieldError, parseBody } from './parse-body.js';

const mostIds = 2 ** 20;

const shared = { model: z.string().nullish() };
const chatPrompt = z.looseObject({
  ...shared,
  ...chatPromptFields,
  tool_choice: z.unknown().optional(),
});
const tokenizeBody = z.looseObject({
  ...shared,
  ...chatPromptFields,
  messages: chatPromptFields.messages.nullish(),
  tool_choice: z.unknown().optional(),
  prompt: z.string().nullish(),
  return_token_strs: z.boolean().nullish(),
});
const detokenizeBody = z.looseObject({
  ...shared,
  tokens: z.array(z.int().min(0)).max(mostIds),
});

/** A body of `POST /apply-template`, and the chat of `POST /tokenize`. */
export type ChatPromptRequest = z.infer<typeof chatPrompt>;

/** A body of `POST /tokenize`: a text or a chat. */
export type TokenizeRequest = {
  readonly model: string | undefined;
  /** Text of each token is wanted, too. */
  readonly wantsTexts: boolean;
} & ({ readonly prompt: string } | { readonly chat: ChatPromptRequest });

/** The shapes of these bodies, for the description of the API. */
export const textSchemas = {
  tokenize: tokenizeBody,
  detokenize: detokenizeBody,
  applyTemplate: chatPrompt,
} as const;

/** Parses a body of `POST /tokenize`, which has either `prompt` or `messages`. */
export function parseTokenizeRequest(body: unknown): TokenizeRequest {
  const { prompt, messages, ...rest } = parseBody(tokenizeBody, body);
  const head = { model: rest.model ?? undefined, wantsTexts: rest.return_token_strs ?? false };
  if (messages && prompt != null) {
    throw fieldError('prompt', 'only one of `prompt` and `messages` is allowed');
  }
  if (messages) return { ...head, chat: checked({ ...rest, messages }) };
  if (prompt != null) return { ...head, prompt };
  throw fieldError('prompt', 'or `messages` is required', 'missing_required_parameter');
}

/** Parses a body of `POST /apply-template`. */
export function parseTemplateRequest(body: unknown): ChatPromptRequest {
  return checked(parseBody(chatPrompt, body));
}

/** Parses a body of `POST /detokenize`. */
export function parseDetokenizeRequest(body: unknown): z.infer<typeof detokenizeBody> {
  return parseBody(detokenizeBody, body);
}

function checked(request: ChatPromptRequest): ChatPromptRequest {
  checkMessages(request.messages);
  return request;
}
