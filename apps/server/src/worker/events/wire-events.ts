import type { TokenEvent } from '@altstream/engine';
import type { WireEvent, WireEvents } from '../messages.js';

/** Of all tokens without them. */
const noAlternatives: TokenEvent['top'] = [];

/** True for a token of which all is said by its id and its log-probability. */
export function isPlain(event: WireEvent): event is TokenEvent {
  return event.type === 'token' && event.top.length === 0 && event.cachedTokens === undefined;
}

/** The events of a message, in the order in which the engine gave them, each with its request. */
export function* eventsOf({
  requests,
  tokens,
  logprobs,
  others,
}: WireEvents): Generator<readonly [request: number, event: WireEvent], void, undefined> {
  let other = 0;
  for (let index = 0; index <= tokens.length; index += 1) {
    for (; others[other]?.before === index; other += 1) {
      const { id, event } = others[other] as WireEvents['others'][number];
      yield [id, event];
    }
    const [request, id, logprob] = [requests[index], tokens[index], logprobs[index]];
    if (request === undefined || id === undefined || logprob === undefined) return;
    yield [request, { type: 'token', id, logprob, top: noAlternatives }];
  }
}
