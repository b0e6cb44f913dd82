import { ask } from '../conversation/ask.js';
import {
  begin,
  type Conversations,
  shown,
  withoutShown,
  withTurns,
} from '../conversation/conversations.js';
import { toMarkdown } from '../conversation/export.js';
import { freshId, keepConversations, readConversations } from '../conversation/kept.js';
import { type Opening, openCalls, toMessages } from '../conversation/messages.js';
import { requestFields, type Settings, SettingsProblem } from '../conversation/settings.js';
import { type AssistantTurn, emptyAnswer, type Turn } from '../conversation/turn.js';
import { byId, element } from '../shell/element.js';
import { copyRequests } from './copy-request.js';
import { PromptCount } from './prompt-count.js';
import { resultForm } from './result-form.js';
import { saveFile } from './save-file.js';
import { SettingsForm } from './settings-form.js';
import { LiveAnswer, turnView } from './turn-view.js';

/** The playground: one conversation shown, one answer at a time. */
export class Playground {
  readonly #settings = new SettingsForm();
  readonly #list = byId('turns', HTMLElement);
  readonly #question = byId('question', HTMLTextAreaElement);
  readonly #stop = byId('stop', HTMLButtonElement);
  readonly #send = byId('send', HTMLButtonElement);
  readonly #chooser = byId('conversation', HTMLSelectElement);
  #conversations: Conversations = readConversations();
  readonly #count = new PromptCount(() => this.#nextBody());
  #running: AbortController | undefined;

  constructor() {
    byId('composer', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#question.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#running?.abort();
    });
    this.#stop.addEventListener('click', () => this.#running?.abort());
    this.#chooser.addEventListener('change', () =>
      this.#choose({ ...this.#conversations, current: this.#chooser.value }),
    );
    this.#onPress('new', () => this.#choose(begin(this.#conversations.all, freshId())));
    this.#onPress('delete', () => this.#choose(withoutShown(this.#conversations, freshId())));
    this.#onPress('export-json', () => this.#exportJson());
    this.#onPress('export-markdown', () =>
      saveFile('conversation.md', toMarkdown(shown(this.#conversations)), 'text/markdown'),
    );
    copyRequests(
      () => this.#body(this.#turns),
      (text) => this.say(text),
    );
    this.#question.addEventListener('input', () => this.#count.changed());
    byId('settings', HTMLFormElement).addEventListener('input', () => this.#count.changed());
    this.#choose(this.#conversations);
  }

  /** Shows a sentence below the question; an empty one clears it. */
  say(text: string): void {
    byId('status', HTMLElement).textContent = text;
  }

  get #turns(): readonly Turn[] {
    return shown(this.#conversations).turns;
  }

  #onPress(id: string, press: () => void): void {
    byId(id, HTMLButtonElement).addEventListener('click', press);
  }

  #submit(): void {
    const content = this.#question.value;
    if (this.#running || content.trim() === '') return;
    if (this.#ask([...this.#turns, { role: 'user', content }])) this.#question.value = '';
    this.#count.changed();
  }

  /** @returns false when the settings cannot be sent */
  #ask(turns: readonly Turn[]): boolean {
    try {
      const body = this.#body(turns);
      this.say('');
      void this.#answer(turns, body);
      return true;
    } catch (error) {
      if (!(error instanceof SettingsProblem)) throw error;
      this.say(error.message);
      this.#settings.focus(error.field);
      return false;
    }
  }

  async #answer(turns: readonly Turn[], body: Record<string, unknown>): Promise<void> {
    const stopper = new AbortController();
    this.#running = stopper;
    this.#keep(turns);
    const live = new LiveAnswer();
    this.#show(live);
    const painter = new Painter((answer) => {
      const isAtEnd = isScrolledToEnd();
      live.show(answer);
      if (isAtEnd) scrollToEnd();
    });
    const answer = await ask(body, {
      signal: stopper.signal,
      onChange: (partial) => painter.show(partial),
    });
    painter.end();
    this.#running = undefined;
    this.#keep([...turns, answer]);
    this.#show();
    const isDone = answer.problem === undefined;
    this.say(isDone ? 'Answer complete.' : answer.problem === 'stopped' ? 'Stopped.' : 'Failed.');
  }

  #body(turns: readonly Turn[]): Record<string, unknown> {
    const settings = this.#settings.values();
    return {
      model: byId('model', HTMLSelectElement).value,
      messages: toMessages(openingOf(settings), turns),
      timings_per_token: true,
      ...requestFields(settings),
    };
  }

  /** What Send would send; nothing while there is no question, or settings that cannot be sent. */
  #nextBody(): Record<string, unknown> | undefined {
    const content = this.#question.value;
    if (content.trim() === '') return undefined;
    try {
      return this.#body([...this.#turns, { role: 'user', content }]);
    } catch {
      return undefined;
    }
  }

  #choose(conversations: Conversations): void {
    this.#running?.abort();
    this.#conversations = conversations;
    this.#keep(this.#turns);
    this.#show();
    this.#count.changed();
  }

  #keep(turns: readonly Turn[]): void {
    this.#conversations = withTurns(this.#conversations, turns);
    if (!keepConversations(this.#conversations)) {
      this.say('The browser has no room to keep this conversation; export it, or delete others.');
    }
    const options = this.#conversations.all.map(({ id, title }) =>
      element('option', { value: id, selected: id === this.#conversations.current }, title),
    );
    this.#chooser.replaceChildren(...options);
  }

  #show(live?: LiveAnswer): void {
    const turns = this.#turns;
    const views = turns.map((turn, index) =>
      turnView(turn, {
        onEdit: (content) => this.#again(turns.slice(0, index), { role: 'user', content }),
        onRegenerate: () => this.#again(turns.slice(0, index)),
      }),
    );
    const calls = live ? [] : openCalls(turns);
    const form = resultForm(calls, (results) => this.#ask([...this.#turns, ...results]));
    live?.show(emptyAnswer);
    this.#list.replaceChildren(
      ...views,
      ...(live ? [live.view] : []),
      ...(calls.length > 0 ? [form] : []),
    );
    this.#list.setAttribute('aria-busy', String(live !== undefined));
    for (const one of this.#list.querySelectorAll('button')) one.disabled = live !== undefined;
    this.#stop.hidden = live === undefined;
    this.#send.hidden = live !== undefined;
    this.#chooser.disabled = live !== undefined;
    scrollToEnd();
  }

  #again(turns: readonly Turn[], ...more: readonly Turn[]): void {
    if (!this.#running) this.#ask([...turns, ...more]);
  }

  #exportJson(): void {
    const { title, turns } = shown(this.#conversations);
    const messages = toMessages(openingOf(this.#settings.values()), turns);
    const kept = turns.map((turn) => ({ ...turn, exchange: undefined }));
    const text = JSON.stringify({ title, messages, turns: kept }, null, 2);
    saveFile('conversation.json', text, 'application/json');
  }
}

function openingOf(settings: Settings): Opening {
  return { role: settings['system_role'] || 'system', content: settings['system'] ?? '' };
}

/** Paints the newest state once a frame, however fast tokens come. */
class Painter {
  readonly #paint: (answer: AssistantTurn) => void;
  #newest: AssistantTurn | undefined;
  #frame = 0;

  constructor(paint: (answer: AssistantTurn) => void) {
    this.#paint = paint;
  }

  show(answer: AssistantTurn): void {
    this.#newest = answer;
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#newest) this.#paint(this.#newest);
    });
  }

  end(): void {
    cancelAnimationFrame(this.#frame);
    this.#newest = undefined;
  }
}

function isScrolledToEnd(): boolean {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop < 80;
}

function scrollToEnd(): void {
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
}
