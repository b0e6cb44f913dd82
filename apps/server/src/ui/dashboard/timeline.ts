import { byId, element } from '../shell/element.js';
import { secondsText, shareText } from '../shell/number-text.js';
import { timelineView } from './timeline-view.js';
import { busyTimes, lanesWithin, parseTrace, type TraceLanes, wholeTrace } from './trace-lanes.js';

/** The part of the page that shows what the streams of a step did. */
export class Timeline {
  readonly #step = byId('step', HTMLSelectElement);
  #trace: TraceLanes | undefined;

  constructor() {
    const field = byId('trace', HTMLInputElement);
    field.addEventListener('change', async () => {
      const file = field.files?.[0];
      if (file) this.open(await file.text(), file.name);
    });
    this.#step.addEventListener('change', () => this.#draw());
  }

  /** Shows the last step of a trace, or all of it when it names no steps. */
  open(text: string, source: string): void {
    try {
      this.#trace = parseTrace(text);
    } catch (error) {
      this.#say(`${source}: ${(error as Error).message}`);
      return;
    }
    const { steps } = this.#trace;
    const options = [wholeTrace(this.#trace), ...steps].map(({ name }, index) =>
      element('option', { value: index }, index === 0 ? name : `${index}: ${name}`),
    );
    this.#step.replaceChildren(...options);
    this.#step.value = String(steps.length);
    this.#step.disabled = false;
    this.#draw();
  }

  #draw(): void {
    if (!this.#trace) return;
    const index = Number(this.#step.value);
    const stretch = this.#trace.steps[index - 1] ?? wholeTrace(this.#trace);
    const lanes = lanesWithin(this.#trace.lanes, stretch);
    const device = lanes.filter(({ process }) => process !== 'host');
    const { anyUs, twoUs } = busyTimes(device);
    const spent = secondsText((stretch.endUs - stretch.startUs) / 1e6);
    this.#say(
      `${stretch.name}: ${spent}. Streams work for ${secondsText(anyUs / 1e6)}, ` +
        `two at once for ${secondsText(twoUs / 1e6)} (${shareText(anyUs > 0 ? twoUs / anyUs : undefined)}).`,
    );
    byId('timeline', HTMLElement).replaceChildren(timelineView(lanes, stretch));
  }

  #say(text: string): void {
    byId('timeline-text', HTMLElement).textContent = text;
  }
}
