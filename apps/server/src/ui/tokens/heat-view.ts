import { element } from '../shell/element.js';
import { numberText, shareText } from '../shell/number-text.js';
import {
  type AnswerToken,
  heatLevel,
  levelTexts,
  perplexity,
  type TokenChance,
  visibleText,
} from './answer-token.js';
import { tokenList } from './token-list.js';

/**
 * The tokens of an answer, coloured by how likely they were, and the alternatives of one of them.
 */
export function heatView(tokens: readonly AnswerToken[]): HTMLElement {
  const look = element('div', { class: 'look' });
  const show = (index: number): void => {
    const token = tokens[index];
    if (token) look.replaceChildren(...lookView(token));
  };
  const shown = tokens.map((token) => ({
    text: visibleText(token),
    class: `heat-${heatLevel(token.logprob)}`,
    label: labelOf(token),
  }));
  const legend = levelTexts.map((text, level) =>
    element('span', { class: `token heat-${level}` }, text),
  );
  const summary = `${numberText(tokens.length)} tokens, perplexity ${numberText(perplexity(tokens))}.`;
  show(0);
  return element(
    'div',
    {},
    element('p', { class: 'hint' }, `${summary} Arrows go from token to token. `, ...legend),
    tokenList('Tokens by probability', shown, show),
    look,
  );
}

function labelOf(token: AnswerToken): string {
  const others = (token.top_logprobs ?? []).filter((other) => other.token !== token.token);
  const rest = others.length === 0 ? '' : `; else ${others.map(chanceText).join(', ')}`;
  return chanceText(token) + rest;
}

function chanceText(chance: TokenChance): string {
  return `${visibleText(chance)} ${shareText(Math.exp(chance.logprob))}`;
}

function lookView(token: AnswerToken): HTMLElement[] {
  const top = token.top_logprobs ?? [];
  const isIn = top.some((other) => other.token === token.token);
  const rows = [...(isIn ? [] : [token]), ...top].map((chance) => {
    const share = Math.exp(chance.logprob);
    return element(
      'tr',
      chance.token === token.token ? { class: 'chosen' } : {},
      element('th', { scope: 'row' }, element('code', {}, visibleText(chance).trimEnd())),
      element('td', {}, shareText(share)),
      element('td', {}, chance.logprob.toFixed(3)),
      element(
        'td',
        {},
        element('meter', { value: share, min: 0, max: 1, 'aria-label': visibleText(chance) }),
      ),
    );
  });
  return [
    element('table', { 'aria-label': 'Chances of this token' }, element('tbody', {}, ...rows)),
  ];
}
