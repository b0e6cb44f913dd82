import { seededRandom } from '@altstream/cuda-runtime/testing';
import type { TokenEvent } from '@altstream/engine';
import {
  buildByteTokenizer,
  ChatTokenizer,
  Detokenizer,
  M3OutputParser,
  StopMatcher,
} from '@altstream/minimax-m3-chat';
import { describe, expect, it } from 'vitest';
import { Choice, type ChoiceStep } from '../src/generation/choice.js';
import { ChatChunks } from '../src/openai/chat-chunk.js';
import { chatResponse } from '../src/openai/chat-response.js';
import { StreamUsage } from '../src/openai/usage.stream.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
const head = { id: 'x', created: 0, model: 'm', system_fingerprint: 'f' };
const shape = {
  wantsLogprobs: true,
  stops: { endIds: new Set([1]), hasMatchedStop: false },
  reasoningFields: ['reasoning_content', 'reasoning'] as const,
  tokens: { bytesOf: (id: number) => tokenizer.bytes.bytesOf(id), asTokenIds: false },
};
const tools = [
  { function: { name: 'f', parameters: { properties: { a: { type: 'string' } } } } },
] as const;
const ns = ']<]minimax[>[';
const pieces = [
  'plain ',
  '🌦',
  'é–',
  '\n',
  'STOP',
  'ST',
  '<mm:think>',
  '</mm:think>',
  ns,
  `${ns}<tool_call>`,
  `${ns}</tool_call>`,
  `${ns}<invoke name="f">`,
  `${ns}</invoke>`,
  `${ns}<a>`,
  `${ns}</a>`,
  '<',
];

/** Token ids: text of markers and words, and single bytes that may be no UTF-8. */
function drawTokens(random: ReturnType<typeof seededRandom>): number[] {
  return Array.from({ length: random.integer(0, 31) }, () => {
    if (random.integer(0, 3) === 0) return [random.integer(3, 260)];
    const text = pieces[random.integer(0, pieces.length)] ?? '';
    return [...tokenizer.encode(text, { specials: true })];
  }).flat();
}

function play(ids: readonly number[], reason: 'stop' | 'length', start: 'inside' | 'outside') {
  const steps: ChoiceStep[] = [];
  const parser = new M3OutputParser({ start, tools: [...tools] });
  const choice = new Choice({
    index: 0,
    promptTokens: 3,
    detokenizer: new Detokenizer(tokenizer.bytes, {
      skipSpecialTokens: true,
      keep: tokenizer.markerIds(),
    }),
    stop: new StopMatcher(['STOP'], { include: false }),
    minTokens: 0,
    parser,
    onStep: (step) => steps.push(step),
  });
  for (const id of ids) choice.onEvent({ type: 'token', id, logprob: -id, top: [] });
  choice.onEvent({
    type: 'finish',
    reason,
    promptTokens: 3,
    cachedTokens: 0,
    generatedTokens: ids.length,
  });
  return { steps, parser };
}

interface Folded {
  content: string;
  reasoning: string;
  calls: Record<number, { name: string; arguments: string }>;
  logprobs: unknown[];
  finishes: unknown[];
}

interface WireChunk {
  choices: {
    delta: {
      content?: string;
      reasoning_content?: string;
      tool_calls?: { index: number; function: { name?: string; arguments: string } }[];
    };
    logprobs: { content: unknown[] } | null;
    finish_reason: unknown;
  }[];
}

function fold(chunks: readonly WireChunk[]): Folded {
  const all: Folded = { content: '', reasoning: '', calls: {}, logprobs: [], finishes: [] };
  for (const { delta, logprobs, finish_reason: finish } of chunks.flatMap((one) => one.choices)) {
    all.content += delta.content ?? '';
    all.reasoning += delta.reasoning_content ?? '';
    for (const { index, function: called } of delta.tool_calls ?? []) {
      all.calls[index] ??= { name: called.name ?? '', arguments: '' };
      const call = all.calls[index];
      if (call) call.arguments += called.arguments;
    }
    all.logprobs.push(...(logprobs?.content ?? []));
    if (finish !== null) all.finishes.push(finish);
  }
  return all;
}

/** What a client makes of the stream, and what it would have got whole. */
function bothWays(steps: readonly ChoiceStep[], parser: M3OutputParser) {
  const chunks = new ChatChunks(head, shape, new StreamUsage({}, [3], 1));
  const wire = [chunks.opening(0), ...steps.flatMap((step) => chunks.ofStep(step))];
  const finish = steps.findLast((step) => step.finish)?.finish;
  if (!finish) throw new Error('the choice did not finish');
  const shown: TokenEvent[] = steps.flatMap((step) => step.tokens);
  const output = parser.result();
  const whole = chatResponse(head, [{ output, finish, tokens: shown }], shape);
  return {
    streamed: fold(JSON.parse(JSON.stringify(wire)) as WireChunk[]),
    whole: (JSON.parse(JSON.stringify(whole)) as WholeAnswer).choices[0],
    counts: finish.counts,
    shown,
  };
}

interface WholeAnswer {
  readonly choices: {
    readonly message: {
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: { readonly function: object }[];
    };
    readonly logprobs: { readonly content: unknown[] };
    readonly finish_reason: string;
  }[];
}

describe('a streamed answer', () => {
  it.each(['inside', 'outside'] as const)('joined is the whole one (begins %s)', (start) => {
    for (let seed = 0; seed < 300; seed += 1) {
      const random = seededRandom(seed);
      const reason = random.integer(0, 2) === 0 ? 'stop' : 'length';
      const { steps, parser } = play(drawTokens(random), reason, start);
      const { streamed, whole, counts } = bothWays(steps, parser);
      const message = `seed ${seed}`;
      expect(streamed.content, message).toBe(whole?.message.content ?? '');
      expect(streamed.reasoning, message).toBe(whole?.message.reasoning_content ?? '');
      expect(Object.values(streamed.calls), message).toEqual(
        (whole?.message.tool_calls ?? []).map((call) => call.function),
      );
      expect(streamed.finishes, message).toEqual([whole?.finish_reason]);
      expect(streamed.logprobs, message).toEqual(whole?.logprobs.content);
      expect(counts.reasoningTokens, message).toBeLessThanOrEqual(counts.completionTokens);
      for (const text of [streamed.content, streamed.reasoning]) {
        expect(text, message).not.toContain('STOP');
        expect(text, message).toBe(Buffer.from(text).toString());
      }
    }
  });

  it('gives no text after a stop string, and no part of it before', () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const after = drawTokens(seededRandom(seed));
      const ids = [...tokenizer.encode('abS'), ...tokenizer.encode('TOP'), ...after];
      const { steps } = play(ids, 'stop', 'outside');
      const deltas = steps.flatMap((step) => step.deltas);
      expect(deltas.map((delta) => ('text' in delta ? delta.text : '')).join('')).toBe('ab');
    }
  });
});
