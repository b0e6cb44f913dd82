import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ChoiceFinish } from '../../generation/choice.js';
import { roomAfter, type TokenRoom } from '../../generation/context-room.js';
import type { ChoiceRequest } from '../../generation/generate.js';
import { samplingParameters, stopStrings } from '../../generation/sampling.js';
import type { ChoiceSteps } from '../../generation/step-stream.js';
import { stopShapeOf } from '../../generation/stop-shape.js';
import { compileGrammar } from '../../grammar/answer-grammar.js';
import { grammarOf } from '../../grammar/grammar-fields.js';
import type { ResponseHead } from '../../openai/chat-response.js';
import {
  CompletionChoice,
  type CompletionPiece,
  type CompletionShape,
  joinPieces,
  type PromptText,
} from '../../openai/completion-choice.js';
import {
  type CompletionPrompt,
  type CompletionRequest,
  completionBody,
  parseCompletionRequest,
  promptsOf,
} from '../../openai/completion-request.js';
import { fieldError } from '../../openai/parse-body.js';
import { usageOf } from '../../openai/usage.js';
import { StreamUsage } from '../../openai/usage.stream.js';
import type { ServerContext } from '../../server-context.js';
import { type Turn, turnOf } from '../access/turn.js';
import { admit, type Ticket } from '../admission.js';
import { cacheSaltOf } from '../cache-salt.js';
import { clampedHeader } from '../clamped-header.js';
import { tokenizeText } from '../prompt/prompt-text.js';
import { readFields } from '../request/ignored-fields.js';
import { tellIgnored } from '../request/ignored-params.js';
import { checkChoices, checkCounts, checkPromptCount, checkTokens } from '../request-limits.js';
import { streamSteps } from '../stream/stream-steps.js';
import { headOf } from './chat-completions.js';

/** OpenAI's default of `max_tokens` for text completions. */
const defaultMaxTokens = 16;

const read = readFields(completionBody.shape);

interface CompletionRun {
  readonly request: CompletionRequest;
  readonly head: ResponseHead;
  readonly choices: readonly CompletionChoice[];
  readonly choicesPerPrompt: number;
  /** Of each choice. */
  readonly promptTokens: readonly number[];
  readonly steps: ChoiceSteps;
}

/** `POST /v1/completions`. */
export function completions(app: FastifyInstance, context: ServerContext): void {
  app.post('/v1/completions', async (incoming, reply) => {
    checkPromptCount(incoming.body, context.settings);
    checkCounts(incoming.body, context.settings);
    const request = parseCompletionRequest(incoming.body);
    tellIgnored(reply, request, { read, context });
    const ticket = admit(context, request, reply);
    return ticket.run(async () => {
      const run = await start(request, ticket, reply);
      return request.stream ? stream(run, reply, ticket) : whole(run, ticket);
    });
  });
}

async function start(
  request: CompletionRequest,
  ticket: Ticket,
  reply: FastifyReply,
): Promise<CompletionRun> {
  const { context } = ticket;
  const choicesPerPrompt = request.n ?? 1;
  const given = promptsOf(request);
  checkChoices(context, given.length, request);
  checkTokens(context, request);
  const asked = grammarOf(request);
  await compileGrammar(asked, context);
  const prompts = await Promise.all(given.map((prompt) => understand(prompt, request, ticket)));
  const shape: CompletionShape = {
    logprobs: request.logprobs ?? undefined,
    echo: request.echo ?? false,
    showsGenerated: request.max_tokens !== 0,
    stops: stopShapeOf(request, context.defaults, context.settings),
    tokens: {
      bytesOf: (token) => context.tokenizer.bytes.bytesOf(token),
      asTokenIds: request.return_tokens_as_token_ids ?? false,
    },
  };
  const wanted = Math.max(1, request.max_tokens ?? defaultMaxTokens);
  const contextTokens = context.info?.maxModelLength ?? 0;
  const perPrompt = prompts.map((prompt) => ({
    prompt,
    room: roomAfter(prompt.ids.length, wanted, {
      contextTokens,
      param: 'prompt',
      isStrict: context.settings.strictMaxTokens,
    }),
  }));
  clampedHeader(
    reply,
    perPrompt.map(({ room }) => room),
  );
  const perChoice = perPrompt.flatMap((one) =>
    Array.from({ length: choicesPerPrompt }, (_, choice) => ({ ...one, choice })),
  );
  const { prefixCacheIsolation } = context.settings;
  const turn = turnOf(request, reply, context.settings);
  const cacheSalt = cacheSaltOf(request, reply.request.tenant, prefixCacheIsolation);
  const requests = perChoice.map((one) =>
    choiceRequest(request, { ...one, cacheSalt, turn }, context),
  );
  return {
    request,
    head: headOf(context, `cmpl-${ticket.id}`),
    choices: perChoice.map(({ prompt }, index) => new CompletionChoice(index, prompt, shape)),
    choicesPerPrompt,
    promptTokens: perChoice.map(({ prompt }) => prompt.ids.length),
    steps: await ticket.generate(requests, choicesPerPrompt),
  };
}

function choiceRequest(
  request: CompletionRequest,
  one: {
    prompt: PromptText;
    choice: number;
    room: TokenRoom;
    cacheSalt: string | undefined;
    turn: Turn;
  },
  context: ServerContext,
): ChoiceRequest {
  const { prompt, choice, room, cacheSalt, turn } = one;
  const grammar = grammarOf(request)?.grammar;
  const wantsPrompt = request.echo && request.logprobs != null && prompt.ids.length > 1;
  return {
    prompt: prompt.ids,
    parameters: samplingParameters(request, choice, {
      defaults: context.defaults,
      vocabSize: context.info?.vocabSize,
      limits: {
        maxTokens: room.maxTokens,
        logprobs: request.logprobs ?? undefined,
        grammar: grammar && { grammar, start: 'answer', marker: 'never' },
        promptLogprobs: wantsPrompt ? (request.logprobs ?? 0) : undefined,
        cacheSalt,
        ...turn,
      },
    }),
    stopStrings: stopStrings(request),
    includeStop: request.include_stop_str_in_output ?? false,
    skipSpecialTokens: request.skip_special_tokens ?? true,
    parser: undefined,
  };
}

/** Text becomes ids; ids become text where `echo` shows it. */
async function understand(
  prompt: CompletionPrompt,
  { echo }: CompletionRequest,
  ticket: Ticket,
): Promise<PromptText> {
  if (typeof prompt === 'string') return tokenizeText(prompt, ticket);
  const { context } = ticket;
  const { vocabSize = 0, maxModelLength = 0 } = context.info ?? {};
  const wrong = prompt.findIndex((id) => id >= vocabSize);
  if (wrong >= 0) {
    const problem = `token id ${prompt[wrong]} is outside the vocabulary of ${vocabSize}`;
    throw fieldError('prompt', problem);
  }
  // Too long a prompt is refused later; its text would keep every other request waiting.
  const isShown = echo && prompt.length < maxModelLength;
  return { ids: prompt, text: isShown ? context.tokenizer.decode(prompt) : '' };
}

async function whole(run: CompletionRun, ticket: Ticket): Promise<Record<string, unknown>> {
  const { request, choices, steps, head, choicesPerPrompt } = run;
  const pieces = choices.map((): CompletionPiece[] => []);
  const finishes: ChoiceFinish[] = [];
  await steps.read((step) => {
    const piece = choices[step.index]?.ofStep(step);
    if (piece) pieces[step.index]?.push(piece);
    if (step.finish) finishes[step.index] = step.finish;
  });
  const counts = finishes.map((finish) => finish.counts);
  const usage = usageOf(counts, choicesPerPrompt, request.max_tokens === 0);
  return {
    ...head,
    object: 'text_completion',
    choices: pieces.map(joinPieces),
    usage,
    ...ticket.measured(request, usage),
  };
}

async function stream(run: CompletionRun, reply: FastifyReply, ticket: Ticket): Promise<void> {
  const { request, head, choices, choicesPerPrompt, steps } = run;
  const streamUsage = new StreamUsage(request, run.promptTokens, choicesPerPrompt);
  const { id, created, model, system_fingerprint } = head;
  const object = 'text_completion';
  const chunk = (choices: readonly CompletionPiece[]): Record<string, unknown> =>
    Object.assign({ id, created, model, system_fingerprint, object, choices }, streamUsage.field);
  await streamSteps(steps, reply, ticket, {
    opening: () => [],
    ofStep: (step) => {
      streamUsage.add(step);
      const piece = choices[step.index]?.ofStep(step);
      return piece ? [chunk([piece])] : [];
    },
    closing: (finishes) => {
      const counts = finishes.map((finish) => finish.counts);
      const usage = usageOf(counts, choicesPerPrompt, request.max_tokens === 0);
      const totals = {
        ...(streamUsage.isWanted ? { usage } : {}),
        ...ticket.measured(request, usage),
      };
      return Object.keys(totals).length > 0 ? [{ ...chunk([]), ...totals }] : [];
    },
  });
}
