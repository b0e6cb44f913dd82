import { randomUUID } from 'node:crypto';
import {
  controlTexts,
  M3OutputParser,
  reasoningStartOf,
  type ToolDefinition,
} from '@altstream/minimax-m3-chat';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ChoiceFinish } from '../../generation/choice.js';
import { roomAfter } from '../../generation/context-room.js';
import type { ChoiceRequest } from '../../generation/generate.js';
import { samplingParameters, stopStrings } from '../../generation/sampling.js';
import type { ChoiceSteps } from '../../generation/step-stream.js';
import { stopShapeOf } from '../../generation/stop-shape.js';
import {
  type ChatGrammar,
  chatGrammarOf,
  compileGrammar,
  grammarStartOf,
  type NamedCalls,
  unmetWishes,
} from '../../grammar/answer-grammar.js';
import { tagNamesOf } from '../../grammar/tag-names-of.js';
import { callRuleOf } from '../../grammar/tool-choice.js';
import { ChatChunks } from '../../openai/chat-chunk.js';
import { type ChatRequest, chatBody, parseChatRequest } from '../../openai/chat-request.js';
import { type ChatShape, chatResponse, type ResponseHead } from '../../openai/chat-response.js';
import { usageOf } from '../../openai/usage.js';
import { StreamUsage } from '../../openai/usage.stream.js';
import type { ServerContext } from '../../server-context.js';
import { turnOf } from '../access/turn.js';
import { admit, type Ticket } from '../admission.js';
import { cacheSaltOf } from '../cache-salt.js';
import { clampedHeader } from '../clamped-header.js';
import { chatPromptOf } from '../prompt/chat-prompt.js';
import { tokenizeChat } from '../prompt/prompt-text.js';
import { readFields } from '../request/ignored-fields.js';
import { tellIgnored, tellUnmet } from '../request/ignored-params.js';
import { checkChoices, checkCounts, checkTokens } from '../request-limits.js';
import { streamSteps } from '../stream/stream-steps.js';

const read = readFields(chatBody.shape);

/** A chat request on its way: what was asked, and the choices that run. */
interface ChatRun {
  readonly request: ChatRequest;
  readonly head: ResponseHead;
  readonly shape: ChatShape;
  readonly parsers: readonly M3OutputParser[];
  /** Of each choice. */
  readonly promptTokens: readonly number[];
  readonly steps: ChoiceSteps;
}

/** `POST /v1/chat/completions`. */
export function chatCompletions(app: FastifyInstance, context: ServerContext): void {
  app.post('/v1/chat/completions', async (incoming, reply) => {
    checkCounts(incoming.body, context.settings);
    const request = parseChatRequest(incoming.body);
    const unmet = unmetWishes(request, context.settings);
    tellIgnored(reply, request, { read, context, unmet });
    const ticket = admit(context, request, reply);
    return ticket.run(async () => {
      const run = await start(request, ticket, reply);
      return request.stream ? stream(run, reply, ticket) : whole(run, ticket);
    });
  });
}

async function start(request: ChatRequest, ticket: Ticket, reply: FastifyReply): Promise<ChatRun> {
  const { context } = ticket;
  const calls = { ...callRuleOf(request), tagNames: tagNamesOf(request) };
  const isToolUse = calls.tools.length > 0;
  checkChoices(context, 1, request);
  checkTokens(context, request);
  const asked = await compiledGrammar(request, calls, context, reply);
  const shown = { ...request, tools: [...calls.tools] };
  const prompt = await tokenizeChat(chatPromptOf(shown, context), ticket);
  const start = grammarStartOf(prompt.text);
  const wanted = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const contextTokens = context.info?.maxModelLength ?? 0;
  const room = roomAfter(prompt.ids.length, wanted, {
    contextTokens,
    param: 'messages',
    isStrict: context.settings.strictMaxTokens,
    usual: context.settings.defaultMaxTokens,
  });
  clampedHeader(reply, [room]);
  const count = request.n ?? 1;
  const { prefixCacheIsolation } = context.settings;
  const turn = turnOf(request, reply, context.settings);
  const cacheSalt = cacheSaltOf(request, reply.request.tenant, prefixCacheIsolation);
  const parsers = Array.from(
    { length: count },
    () =>
      new M3OutputParser({
        start: reasoningStartOf(prompt.text),
        tools: (request.tools ?? []) as unknown as ToolDefinition[],
        tagNames: calls.tagNames,
        parseToolCalls: isToolUse,
        ...(request.parallel_tool_calls === false || calls.must === 'one'
          ? { maxToolCalls: 1 }
          : {}),
      }),
  );
  const choices = parsers.map(
    (parser, index): ChoiceRequest => ({
      prompt: prompt.ids,
      parameters: samplingParameters(request, index, {
        defaults: context.defaults,
        vocabSize: context.info?.vocabSize,
        never: request.tool_choice === 'none' ? callMarkers(context) : [],
        limits: {
          maxTokens: room.maxTokens,
          grammar: asked && {
            grammar: asked.answer?.grammar,
            calls: asked.calls?.grammar,
            marker: asked.marker,
            start,
          },
          logprobs: request.logprobs ? (request.top_logprobs ?? 0) : undefined,
          cacheSalt,
          ...turn,
        },
      }),
      stopStrings: stopStrings(request),
      includeStop: request.include_stop_str_in_output ?? false,
      skipSpecialTokens: request.skip_special_tokens ?? true,
      parser,
      isCallNamed: calls.must === 'one',
    }),
  );
  return {
    request,
    head: headOf(context, `chatcmpl-${ticket.id}`),
    shape: {
      wantsLogprobs: request.logprobs ?? false,
      stops: stopShapeOf(request, context.defaults, context.settings),
      reasoningFields: (request.include_reasoning ?? true) ? context.settings.reasoningFields : [],
      tokens: {
        bytesOf: (token) => context.tokenizer.bytes.bytesOf(token),
        asTokenIds: request.return_tokens_as_token_ids ?? false,
      },
    },
    parsers,
    promptTokens: choices.map(() => prompt.ids.length),
    steps: await ticket.generate(choices, count),
  };
}

async function compiledGrammar(
  request: ChatRequest,
  calls: NamedCalls,
  context: ServerContext,
  reply: FastifyReply,
): Promise<ChatGrammar | undefined> {
  const asked = chatGrammarOf(request, calls, context.settings);
  tellUnmet(reply, asked?.unmet ?? [], context);
  await compileGrammar(asked?.answer, context);
  await compileGrammar(asked?.calls, context);
  return asked;
}

/** What every call begins with. */
function callMarkers({ tokenizer }: ServerContext): readonly number[] {
  return [tokenizer.specialId(controlTexts.namespace)].filter((id) => id !== undefined);
}

/** The head of an answer in this server's name. */
export function headOf(context: ServerContext, id: string = randomUUID()): ResponseHead {
  return {
    id,
    created: Math.floor(Date.now() / 1000),
    model: context.settings.servedModelNames[0],
    system_fingerprint: context.fingerprint,
  };
}

async function whole(run: ChatRun, ticket: Ticket): Promise<Record<string, unknown>> {
  const { request, parsers, steps, head, shape } = run;
  const finishes: (ChoiceFinish | undefined)[] = parsers.map(() => undefined);
  const tokens = parsers.map(
    (): Parameters<typeof chatResponse>[1][number]['tokens'][number][] => [],
  );
  await steps.read((step) => {
    if (shape.wantsLogprobs) tokens[step.index]?.push(...step.tokens);
    if (step.finish) finishes[step.index] = step.finish;
  });
  const choices = parsers.flatMap((parser, index) => {
    const finish = finishes[index];
    return finish ? [{ output: parser.result(), finish, tokens: tokens[index] ?? [] }] : [];
  });
  const response = chatResponse(head, choices, shape);
  return { ...response, ...ticket.measured(request, response.usage) };
}

async function stream(run: ChatRun, reply: FastifyReply, ticket: Ticket): Promise<void> {
  const { request, head, shape, parsers, steps } = run;
  const streamUsage = new StreamUsage(request, run.promptTokens, parsers.length);
  const chunks = new ChatChunks(head, shape, streamUsage);
  await streamSteps(steps, reply, ticket, {
    opening: () => parsers.map((_, index) => chunks.opening(index)),
    ofStep: (step) => chunks.ofStep(step),
    closing: (finishes) => {
      const counts = finishes.map((finish) => finish.counts);
      const usage = usageOf(counts, parsers.length);
      const totals = {
        ...(streamUsage.isWanted ? { usage } : {}),
        ...ticket.measured(request, usage),
      };
      return Object.keys(totals).length > 0 ? [chunks.ofTotals(totals)] : [];
    },
  });
}
