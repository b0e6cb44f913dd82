import type { Exchange } from '../conversation/turn.js';
import { element } from '../shell/element.js';

/** The request of an answer as it was sent. */
export function requestView({ request }: Exchange): HTMLElement {
  return view('POST /v1/chat/completions', JSON.stringify(request, null, 2));
}

/** What came back, event by event. */
export function responseView({ status, id, frames }: Exchange): HTMLElement {
  const named = id === null ? '' : `, request ${id}`;
  const came = status === 0 ? 'No answer' : `Status ${status}${named}, ${frames.length} events`;
  return view(came, frames.join('\n\n'));
}

function view(head: string, text: string): HTMLElement {
  const body = element('pre', { tabindex: 0, class: 'raw' }, text);
  return element('div', {}, element('p', { class: 'hint' }, head), body);
}
