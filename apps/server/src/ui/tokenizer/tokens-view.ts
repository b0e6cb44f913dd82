import { element } from '../shell/element.js';
import { numberText } from '../shell/number-text.js';
import { visibleText } from '../tokens/answer-token.js';
import { tokenList } from '../tokens/token-list.js';

/** What `/tokenize` answers. */
export interface Tokens {
  readonly tokens: readonly number[];
  readonly token_strs: readonly string[];
  readonly max_model_len: number | null;
}

/** More would make the page slow; the ids are all there. */
const mostShown = 5000;

/** Tokens in four colours by turns, and the id of the one that is looked at. */
export function tokensView({
  tokens,
  token_strs: texts,
  max_model_len: most,
}: Tokens): HTMLElement {
  const look = element('p', { class: 'look' });
  const show = (index: number): void => {
    const [id, token] = [tokens[index], texts[index]];
    if (id === undefined || token === undefined) return;
    look.replaceChildren(
      element('code', {}, visibleText({ token }).trimEnd()),
      ` is token ${id}, number ${index + 1} of ${numberText(tokens.length)}.`,
    );
  };
  const shown = texts.slice(0, mostShown).map((token, index) => {
    const text = visibleText({ token });
    return { text, class: `piece-${index % 4}`, label: `${text} ${tokens[index]}` };
  });
  const left = texts.length - shown.length;
  const counts = [
    `${numberText(tokens.length)} tokens`,
    ...(most === null ? [] : [` of ${numberText(most)} that fit`]),
    ...(left > 0 ? [`; the last ${numberText(left)} are in the ids only`] : []),
    '.',
  ];
  show(0);
  return element(
    'div',
    {},
    element('p', { class: 'hint' }, `${counts.join('')} Arrows go from token to token.`),
    tokenList('Tokens', shown, show),
    look,
  );
}
