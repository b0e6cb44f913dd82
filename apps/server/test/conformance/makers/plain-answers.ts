import { dataOf, messages, post } from './requests.js';

/** The routes that generate. */
export const paths = ['/v1/chat/completions', '/v1/completions'] as const;

/** One choice, however it came. */
export interface PlainAnswer {
  readonly index: number;
  readonly text: string;
  readonly finish: string | null;
  readonly stop: string | number | null;
  /** Of all choices of its request. */
  readonly completionTokens: number;
}

interface WireChoice {
  readonly index: number;
  readonly text?: string;
  readonly message?: { readonly content: string | null };
  readonly delta?: { readonly content?: string };
  readonly finish_reason: string | null;
  readonly stop_reason?: string | number | null;
}

interface WireAnswer {
  readonly choices: readonly WireChoice[];
  readonly usage?: { readonly completion_tokens: number } | null;
}

/** Asks the same of each route, whole and streamed. @returns the choices of all those answers */
export async function answers(
  url: string,
  more: object,
  routes: readonly (typeof paths)[number][] = paths,
): Promise<PlainAnswer[]> {
  const all: PlainAnswer[] = [];
  for (const path of routes) {
    const prompt = path === '/v1/completions' ? { prompt: 'Hi' } : { messages };
    const body = { model: 'm3', max_tokens: 500, ...prompt, ...more };
    const whole = await post(url + path, body);
    if (!whole.ok) throw new Error(`${path}: ${await whole.text()}`);
    all.push(...joined([(await whole.json()) as WireAnswer]));
    const options = { stream: true, stream_options: { include_usage: true } };
    const stream = await (await post(url + path, { ...body, ...options })).text();
    const frames = dataOf(stream).filter((data) => data !== '[DONE]');
    all.push(...joined(frames.map((data) => JSON.parse(data) as WireAnswer)));
  }
  return all;
}

function joined(parts: readonly WireAnswer[]): PlainAnswer[] {
  const completionTokens = parts.findLast(({ usage }) => usage)?.usage?.completion_tokens ?? -1;
  const byIndex = new Map<number, PlainAnswer>();
  for (const choice of parts.flatMap(({ choices }) => choices)) {
    const { index, text, message, delta, finish_reason: finish, stop_reason: stop } = choice;
    const known = byIndex.get(index);
    byIndex.set(index, {
      index,
      text: (known?.text ?? '') + (text ?? message?.content ?? delta?.content ?? ''),
      finish: finish ?? known?.finish ?? null,
      stop: stop ?? known?.stop ?? null,
      completionTokens,
    });
  }
  return [...byIndex.values()];
}
