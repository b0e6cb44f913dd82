import { callApi } from '../shell/api.js';
import { followApiKeyField } from '../shell/api-key.js';
import { byId, element } from '../shell/element.js';
import { untilReady } from '../shell/readiness.js';
import { type InputKind, readInput, type TokenRequest } from './token-request.js';
import { type Tokens, tokensView } from './tokens-view.js';

/** Entry of the tokenizer's page. */
function start(): void {
  followApiKeyField(() => undefined);
  void untilReady();
  const kind = byId('kind', HTMLSelectElement);
  const field = byId('input', HTMLTextAreaElement);
  byId('ask', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void run(kind.value as InputKind, field.value);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run(kind.value as InputKind, field.value);
  });
}

let asked = new AbortController();

/** Shows what became of the field; of two questions the later one counts. */
async function run(kind: InputKind, text: string): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  const status = byId('status', HTMLElement);
  try {
    status.textContent = '';
    const { prompt, tokens, note } = await ask(readInput(kind, text), signal);
    byId('rendered', HTMLElement).replaceChildren(
      element('pre', { class: 'raw', tabindex: 0 }, prompt),
    );
    byId('ids', HTMLTextAreaElement).value = JSON.stringify(tokens.tokens);
    byId('tokens', HTMLElement).replaceChildren(tokensView(tokens));
    byId('result', HTMLElement).hidden = false;
    status.textContent = note;
  } catch (error) {
    if (signal.aborted) return;
    byId('result', HTMLElement).hidden = true;
    status.textContent = (error as Error).message;
  }
}

interface Result {
  /** The prompt as text: what was typed, rendered or decoded. */
  readonly prompt: string;
  readonly tokens: Tokens;
  readonly note: string;
}

async function ask(request: TokenRequest, signal: AbortSignal): Promise<Result> {
  const call = async <T>(path: string, body: object): Promise<T> =>
    (await (await callApi(path, { body, signal })).json()) as T;
  const tokenize = (body: object) => call<Tokens>('tokenize', { ...body, return_token_strs: true });
  if (request.kind === 'chat') {
    const { chat } = request;
    const { prompt } = await call<{ prompt: string }>('apply-template', chat);
    return { prompt, tokens: await tokenize(chat), note: '' };
  }
  if (request.kind === 'text') {
    return { prompt: request.prompt, tokens: await tokenize(request), note: '' };
  }
  const { prompt } = await call<{ prompt: string }>('detokenize', { tokens: request.tokens });
  const tokens = await tokenize({ prompt });
  const isSame = tokens.tokens.join() === request.tokens.join();
  return {
    prompt,
    tokens,
    note: isSame
      ? 'The text becomes these ids again.'
      : 'The text becomes other ids than these; its own are shown below.',
  };
}

start();
