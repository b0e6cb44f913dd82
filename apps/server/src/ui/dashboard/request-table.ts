import { ApiProblem, callApi } from '../shell/api.js';
import { button } from '../shell/button.js';
import { byId, element } from '../shell/element.js';
import { numberText, secondsText } from '../shell/number-text.js';

/** A request as `/admin/requests` tells of it. */
interface LiveRequest {
  readonly request_id: string;
  readonly state: string;
  readonly age_seconds: number;
  readonly tenant: string;
  readonly prompt_tokens: number | null;
  readonly generated_tokens: number;
}

interface Row {
  readonly view: HTMLTableRowElement;
  show(request: LiveRequest): void;
}

const mostRows = 200;
/** What stands in place of a list that this key does not open, by status. */
const closedNotes: Readonly<Record<number, string | undefined>> = {
  401: 'An API key of the operator would show this list.',
  403: 'This list needs the admin key.',
};
const heads = ['Request', 'State', 'Age', 'Prompt', 'Generated', 'Tenant', ''];

/**
 * The requests under way, each with a button that ends it. Rows stay in place, so that the focus
 * does.
 */
export class RequestTable {
  readonly #rows = new Map<string, Row>();
  readonly #body = element('tbody', {});
  readonly #note = byId('requests-note', HTMLElement);
  #isClosed = false;

  constructor() {
    const top = heads.map((head) => element('th', { scope: 'col' }, head));
    const table = element(
      'table',
      { 'aria-label': 'Requests under way' },
      element('thead', {}, element('tr', {}, ...top)),
      this.#body,
    );
    byId('requests', HTMLElement).append(table);
  }

  /** Another key may open the list. */
  keyChanged(): void {
    this.#isClosed = false;
  }

  /** Asks once; a list that needs another key is not asked for again. */
  async look(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const answer = await callApi('admin/requests');
      this.#show(((await answer.json()) as { requests: readonly LiveRequest[] }).requests);
    } catch (error) {
      const note = error instanceof ApiProblem ? closedNotes[error.status] : undefined;
      if (note === undefined) throw error;
      this.#isClosed = true;
      this.#show([]);
      this.#note.textContent = note;
    }
  }

  #show(requests: readonly LiveRequest[]): void {
    const shown = requests.slice(0, mostRows);
    const ids = new Set(shown.map(({ request_id: id }) => id));
    for (const [id, { view }] of this.#rows) {
      if (ids.has(id)) continue;
      view.remove();
      this.#rows.delete(id);
    }
    for (const request of shown) {
      const row = this.#rows.get(request.request_id) ?? this.#add(request.request_id);
      row.show(request);
    }
    const more = requests.length - shown.length;
    this.#note.textContent =
      requests.length === 0 ? 'None.' : more > 0 ? `And ${numberText(more)} more.` : '';
  }

  #add(id: string): Row {
    const cells = heads.slice(1, -1).map(() => element('td', {}));
    const end = button('Abort', () => void this.#abort(id), { 'aria-label': `Abort ${id}` });
    const head = element('th', { scope: 'row' }, element('code', {}, id));
    const view = element('tr', {}, head, ...cells, element('td', {}, end));
    const row: Row = {
      view,
      show: (request) => {
        const texts = [
          request.state,
          secondsText(request.age_seconds),
          numberText(request.prompt_tokens ?? undefined),
          numberText(request.generated_tokens),
          request.tenant === '' ? '–' : request.tenant,
        ];
        for (const [at, cell] of cells.entries()) cell.textContent = texts[at] ?? '';
        end.disabled = request.state === 'ending';
      },
    };
    this.#rows.set(id, row);
    this.#body.append(view);
    return row;
  }

  async #abort(id: string): Promise<void> {
    const said = byId('requests-status', HTMLElement);
    try {
      await callApi('abort_request', { body: { rid: id } });
      said.textContent = `${id} was aborted.`;
    } catch (error) {
      said.textContent = (error as Error).message;
    }
  }
}
