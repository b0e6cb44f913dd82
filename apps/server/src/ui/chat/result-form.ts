import type { ToolCall, ToolTurn } from '../conversation/turn.js';
import { element } from '../shell/element.js';

/** A form for the results of the calls that the model waits for. */
export function resultForm(
  calls: readonly ToolCall[],
  onResults: (results: readonly ToolTurn[]) => void,
): HTMLFormElement {
  const fields = calls.map((call) => ({ call, field: element('textarea', { rows: 2 }) }));
  const send = element('button', { type: 'submit', class: 'primary' }, 'Send results');
  const form = element(
    'form',
    { class: 'results', 'aria-label': 'Results of the calls' },
    ...fields.map(({ call, field }) => element('label', {}, `Result of ${call.name}`, field)),
    send,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onResults(
      fields.map(({ call, field }) => ({
        role: 'tool',
        callId: call.id,
        name: call.name,
        content: field.value,
      })),
    );
  });
  return form;
}
