import type { AssistantTurn, ToolCall, Turn } from '../conversation/turn.js';
import { button } from '../shell/button.js';
import { element } from '../shell/element.js';
import { secondsText } from '../shell/number-text.js';
import { tabs } from '../shell/tabs.js';
import { heatView } from '../tokens/heat-view.js';
import { requestView, responseView } from './exchange-view.js';
import { markupView } from './markup-view.js';
import { numbersText } from './numbers-text.js';

/** What the buttons of a turn do. */
export interface TurnActions {
  readonly onEdit: (content: string) => void;
  readonly onRegenerate: () => void;
}

/** A turn that nothing is added to any more. */
export function turnView(turn: Turn, actions: TurnActions): HTMLElement {
  if (turn.role === 'assistant') {
    return frame('Assistant', 'assistant', [
      ...tabbed(turn),
      element(
        'footer',
        {},
        element('span', { class: 'numbers' }, numbersText(turn.numbers)),
        copyButton(turn.content),
        button('Regenerate', actions.onRegenerate),
      ),
    ]);
  }
  const isTool = turn.role === 'tool';
  const body = element('div', { class: 'body plain' }, turn.content);
  const edit = button('Edit', () => article.replaceChildren(head(name), editor(turn, actions)));
  const footer = element('footer', {}, ...(isTool ? [] : [copyButton(turn.content), edit]));
  const name = isTool ? `Result of ${turn.name}` : 'You';
  const article = frame(name, turn.role, [body, footer]);
  return article;
}

/** An answer, and behind further tabs what is known of how it came; after a reload nothing is. */
function tabbed(turn: AssistantTurn): HTMLElement[] {
  const { tokens, exchange } = turn;
  const answer = answerView(turn, false);
  if (!tokens && !exchange) return answer;
  const whole = element('div', {}, ...answer);
  return [
    tabs('Views of the answer', [
      { name: 'Answer', view: () => whole },
      ...(tokens ? [{ name: 'Tokens', view: () => heatView(tokens) }] : []),
      ...(exchange
        ? [
            { name: 'Request', view: () => requestView(exchange) },
            { name: 'Response', view: () => responseView(exchange) },
          ]
        : []),
    ]),
  ];
}

/** The answer that is coming. Its folds stay as the reader left them. */
export class LiveAnswer {
  readonly view: HTMLElement = frame('Assistant', 'assistant live', []);

  show(turn: AssistantTurn): void {
    const isOpen = this.view.querySelector('details.thinking')?.hasAttribute('open') ?? false;
    this.view.replaceChildren(head('Assistant'), ...answerView(turn, isOpen));
  }
}

function answerView(turn: AssistantTurn, isOpen: boolean): HTMLElement[] {
  const { content, reasoning, calls, problem, finish, numbers } = turn;
  const parts: HTMLElement[] = [];
  if (reasoning !== '') {
    const isOver = content !== '' || calls.length > 0 || finish !== null || problem !== undefined;
    const spent = secondsText((numbers.thinkingMs ?? 0) / 1000);
    const title = isOver ? `Thought for ${spent}` : `Thinking… ${spent}`;
    const text = element('div', { class: 'plain' }, reasoning);
    parts.push(
      element('details', { class: 'thinking', open: isOpen }, element('summary', {}, title), text),
    );
  }
  if (content !== '') parts.push(element('div', { class: 'body' }, ...markupView(content)));
  parts.push(...calls.map(callView));
  if (finish === 'length') parts.push(note('Cut off at the most tokens that were allowed.'));
  if (problem !== undefined) parts.push(note(problem === 'stopped' ? 'Stopped.' : problem));
  return parts;
}

function callView({ name, arguments: text }: ToolCall): HTMLElement {
  const title = element('summary', {}, 'Calls ', element('code', {}, name));
  return element(
    'details',
    { class: 'call', open: true },
    title,
    element('pre', { tabindex: 0 }, readable(text)),
  );
}

/** Arguments that are complete are set apart; others stand as they came. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function editor(turn: Turn, { onEdit }: TurnActions): HTMLElement {
  const field = element('textarea', { rows: 4, 'aria-label': 'Edited question' });
  field.value = turn.content;
  const send = button('Send again', () => onEdit(field.value), { class: 'primary' });
  queueMicrotask(() => field.focus());
  return element('div', { class: 'editor' }, field, send);
}

function copyButton(text: string): HTMLButtonElement {
  const made = button('Copy', async () => {
    // Plain HTTP from another machine has no clipboard.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    made.textContent = done ? 'Copied' : 'Not allowed here';
  });
  return made;
}

function note(text: string): HTMLElement {
  return element('p', { class: 'note' }, text);
}

function frame(name: string, kind: string, parts: readonly Node[]): HTMLElement {
  return element('article', { class: `turn ${kind}`, 'aria-label': name }, head(name), ...parts);
}

function head(name: string): HTMLElement {
  return element('h3', {}, name);
}
