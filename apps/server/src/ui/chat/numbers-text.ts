import type { AnswerNumbers } from '../conversation/turn.js';
import { numberText, secondsText } from '../shell/number-text.js';

/** One line about what an answer cost. */
export function numbersText(numbers: AnswerNumbers): string {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = numbers;
  const { firstMs, totalMs, tokensPerSecond } = numbers;
  const of = (count: number | undefined, text: string): string[] => (count ? [text] : []);
  return [
    ...(completionTokens === undefined
      ? []
      : [
          `${numberText(completionTokens)} tokens`,
          ...of(reasoningTokens, `${numberText(reasoningTokens)} of them thoughts`),
        ]),
    ...of(tokensPerSecond, `${numberText(tokensPerSecond)} tokens/s`),
    ...of(firstMs, `first after ${secondsText((firstMs ?? 0) / 1000)}`),
    ...of(totalMs, `${secondsText((totalMs ?? 0) / 1000)} in all`),
    ...(promptTokens === undefined
      ? []
      : [
          `prompt ${numberText(promptTokens)} tokens`,
          ...of(cachedTokens, `${numberText(cachedTokens)} of them cached`),
        ]),
  ].join(' · ');
}
