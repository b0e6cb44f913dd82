import { z } from 'zod';

// OpenAI's published shapes, closed: what is not theirs or a documented extension is an error.

const token = { token: z.string(), logprob: z.number().max(0), bytes: z.array(z.int()).nullable() };
const chatLogprobs = z.strictObject({
  content: z.array(
    z.strictObject({ ...token, top_logprobs: z.array(z.strictObject(token)).max(20) }),
  ),
  refusal: z.null(),
});
const usage = z.strictObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.strictObject({ cached_tokens: z.int() }),
  completion_tokens_details: z.strictObject({ reasoning_tokens: z.int() }),
});
const head = { created: z.int(), model: z.string(), system_fingerprint: z.string() };
const reasons = z.enum(['stop', 'length', 'tool_calls']);
const stop = z.union([z.string(), z.int()]).nullable();
/** Extensions: both names of thoughts, and what stopped the choice. */
const thoughts = { reasoning_content: z.string().optional(), reasoning: z.string().optional() };

/** A whole chat completion. */
export const chatAnswer = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion'),
  ...head,
  choices: z.array(
    z.strictObject({
      index: z.int(),
      message: z.strictObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.null(),
        ...thoughts,
        tool_calls: z
          .array(
            z.strictObject({
              id: z.string().startsWith('call_'),
              type: z.literal('function'),
              function: z.strictObject({ name: z.string(), arguments: z.string() }),
            }),
          )
          .min(1)
          .optional(),
      }),
      logprobs: chatLogprobs.nullable(),
      finish_reason: reasons,
      stop_reason: stop,
    }),
  ),
  usage,
});

/** One chunk of a streamed chat completion. */
export const chatChunk = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion.chunk'),
  ...head,
  choices: z.array(
    z.strictObject({
      index: z.int(),
      delta: z.strictObject({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        ...thoughts,
        tool_calls: z
          .array(
            z.strictObject({
              index: z.int(),
              id: z.string().startsWith('call_').optional(),
              type: z.literal('function').optional(),
              function: z.strictObject({ name: z.string().optional(), arguments: z.string() }),
            }),
          )
          .optional(),
      }),
      logprobs: chatLogprobs.nullable(),
      finish_reason: reasons.nullable(),
      stop_reason: stop.optional(),
    }),
  ),
  usage: usage.nullable().optional(),
});

/** A whole text completion, or a chunk of a streamed one. */
export const completionAnswer = z.strictObject({
  id: z.string().startsWith('cmpl-'),
  object: z.literal('text_completion'),
  ...head,
  choices: z.array(
    z.strictObject({
      index: z.int(),
      text: z.string(),
      logprobs: z
        .strictObject({
          tokens: z.array(z.string()),
          token_logprobs: z.array(z.number().nullable()),
          top_logprobs: z.array(z.record(z.string(), z.number()).nullable()),
          text_offset: z.array(z.int()),
        })
        .nullable(),
      finish_reason: z.enum(['stop', 'length']).nullable(),
      stop_reason: stop.optional(),
    }),
  ),
  usage: usage.nullable().optional(),
});
