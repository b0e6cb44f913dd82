import type { FastifyInstance, FastifyReply } from 'fastify';
import { fieldError } from '../../openai/parse-body.js';
import {
  parseDetokenizeRequest,
  parseTemplateRequest,
  parseTokenizeRequest,
} from '../../openai/text-requests.js';
import { textOf } from '../../openai/token-text.js';
import type { ServerContext } from '../../server-context.js';
import { tenantOf } from '../access/turn.js';
import { checkOpen } from '../admission.js';
import { ClientWatch } from '../client-watch.js';
import { chatPromptOf } from '../prompt/chat-prompt.js';
import { type PromptAsker, renderChat, tokenizeChat, tokenizeText } from '../prompt/prompt-text.js';

/**
 * `/tokenize`, `/detokenize` and `/apply-template`: prompts as the model gets them, without the
 * model.
 */
export function tokens(app: FastifyInstance, context: ServerContext): void {
  const asker = (model: string | null | undefined, reply: FastifyReply): PromptAsker => {
    checkOpen(context, model ?? undefined);
    const turn = tenantOf(reply.request, context.settings);
    return { context, turn, signal: new ClientWatch(reply).signal };
  };
  for (const prefix of ['', '/v1']) {
    app.post(`${prefix}/tokenize`, async ({ body }, reply) => {
      const request = parseTokenizeRequest(body);
      const from = asker(request.model, reply);
      const { ids } = await ('chat' in request
        ? tokenizeChat(chatPromptOf(request.chat, context), from)
        : tokenizeText(request.prompt, from));
      const texts = {
        bytesOf: (id: number) => context.tokenizer.bytes.bytesOf(id),
        asTokenIds: false,
      };
      return {
        count: ids.length,
        max_model_len: context.info?.maxModelLength ?? null,
        tokens: ids,
        ...(request.wantsTexts ? { token_strs: ids.map((id) => textOf(id, texts)) } : {}),
      };
    });
    app.post(`${prefix}/detokenize`, async ({ body }) => {
      const request = parseDetokenizeRequest(body);
      checkOpen(context, request.model ?? undefined);
      return { prompt: decode(request.tokens, context) };
    });
  }
  app.post('/apply-template', async ({ body }, reply) => {
    const request = parseTemplateRequest(body);
    const from = asker(request.model, reply);
    return { prompt: await renderChat(chatPromptOf(request, context), from) };
  });
}

function decode(ids: readonly number[], { tokenizer }: ServerContext): string {
  const wrong = ids.findIndex((id) => id >= tokenizer.vocabSize);
  if (wrong < 0) return tokenizer.decode(ids);
  const problem = `token id ${ids[wrong]} is outside the vocabulary of ${tokenizer.vocabSize}`;
  throw fieldError(`tokens[${wrong}]`, problem);
}
