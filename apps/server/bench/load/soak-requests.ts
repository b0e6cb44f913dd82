import { seededRandom } from '@altstream/cuda-runtime/testing';

/** What a client does with its request. */
export type Behaviour = 'stream' | 'whole' | 'leave-stream' | 'leave-whole' | 'abort' | 'invalid';

/** One request of a soak. */
export interface SoakRequest {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * For those that leave or abort: after so many chunks, or so many milliseconds of a whole answer.
   */
  readonly after: number;
}

const words = 'what is the sum of two and three please tell me a short story about rivers'.split(
  ' ',
);

/** Requests of all kinds to a model named `soak`, drawn by a seed. */
export function soakRequests(count: number, { seed }: { seed: number }): SoakRequest[] {
  const random = seededRandom(seed);
  const below = (limit: number): number => random.integer(0, limit);
  return Array.from({ length: count }, (_, n) => {
    const behaviour = behaviourOf(below(100));
    const isChat = below(2) === 0;
    const text = Array.from(
      { length: 1 + below(n % 20 === 0 ? 600 : 40) },
      () => words[below(words.length)],
    );
    const isStream = ['stream', 'leave-stream', 'abort'].includes(behaviour);
    const leaves = behaviour.startsWith('leave') || behaviour === 'abort';
    const isLong = n % 4 === 0;
    const body = {
      model: 'soak',
      ...(isChat
        ? { messages: [{ role: 'user', content: text.join(' ') }] }
        : { prompt: text.join(' ') }),
      max_tokens: leaves ? 200 : 1 + below(isLong ? 240 : 32),
      ...(leaves || isLong || below(4) === 0 ? { ignore_eos: true } : {}),
      ...(below(3) === 0 ? { temperature: 0.8, seed: n } : { temperature: 0 }),
      ...(below(8) === 0 ? { stop: ['the', '7'] } : {}),
      ...(below(10) === 0 && isChat ? { logprobs: true, top_logprobs: 2 } : {}),
      ...(below(10) === 0 ? { frequency_penalty: 0.5 } : {}),
      ...(below(15) === 0 ? { structured_outputs: { regex: '[a-z ]{2,12}[.!]' } } : {}),
      stream: isStream,
    };
    return {
      id: `soak-${seed}-${n}`,
      behaviour,
      path: isChat ? '/v1/chat/completions' : '/v1/completions',
      body:
        behaviour === 'invalid' ? invalidBody(below(invalid.length), body) : JSON.stringify(body),
      headers: below(25) === 0 ? { 'x-request-timeout-ms': String(20 + below(200)) } : {},
      after: behaviour === 'leave-whole' ? 5 + below(80) : 1 + below(20),
    };
  });
}

function behaviourOf(drawn: number): Behaviour {
  if (drawn < 40) return 'stream';
  if (drawn < 68) return 'whole';
  if (drawn < 78) return 'leave-stream';
  if (drawn < 84) return 'leave-whole';
  return drawn < 90 ? 'abort' : 'invalid';
}

const invalid: readonly ((body: object) => string)[] = [
  (body) => JSON.stringify(body).slice(0, -3),
  () => '',
  () => '[1, 2]',
  (body) => JSON.stringify({ ...body, model: 'another' }),
  (body) => JSON.stringify({ ...body, max_tokens: -1 }),
  (body) => JSON.stringify({ ...body, temperature: 'hot' }),
  (body) => JSON.stringify({ ...body, prompt: 'x '.repeat(40_000), messages: undefined }),
  (body) => JSON.stringify({ ...body, messages: 'hello', prompt: { a: 1 } }),
];

function invalidBody(which: number, body: object): string {
  return invalid[which]?.(body) ?? '';
}
