import { element } from '../shell/element.js';
import { type Block, parseMarkup, type Span } from './markup.js';

/** An answer's text as elements; its own angle brackets stay text. */
export function markupView(text: string): readonly HTMLElement[] {
  return parseMarkup(text).map(blockView);
}

function blockView(block: Block): HTMLElement {
  if (block.kind === 'paragraph') return element('p', {}, ...block.spans.map(spanView));
  const code = element('code', {}, block.text);
  // A long line is scrolled; without a tab stop the keyboard could not reach it.
  const frame = element('pre', { tabindex: 0 }, code);
  if (block.language === '') return frame;
  const caption = element('figcaption', {}, block.language);
  return element('figure', {}, caption, frame);
}

function spanView({ kind, text }: Span): Node {
  return kind === 'text' ? document.createTextNode(text) : element(kind, {}, text);
}
