import { keepSettings, readSettings } from '../conversation/kept.js';
import { numberFields, type Settings } from '../conversation/settings.js';
import { byId, element } from '../shell/element.js';

/** The settings form: its number fields are made here, the others stand in the page. */
export class SettingsForm {
  readonly #form = byId('settings', HTMLFormElement);

  constructor() {
    byId('numbers', HTMLElement).append(
      ...numberFields.map(({ name, label, min, max, step }) =>
        element(
          'label',
          {},
          label,
          element('input', { type: 'number', name, min, max, step, placeholder: 'default' }),
        ),
      ),
    );
    const kept = readSettings();
    for (const field of this.#fields()) field.value = kept[field.name] ?? field.value;
    this.#form.addEventListener('change', () => keepSettings(this.values()));
    this.#form.addEventListener('submit', (event) => event.preventDefault());
  }

  /** What stands in it now. */
  values(): Settings {
    return Object.fromEntries(this.#fields().map(({ name, value }) => [name, value]));
  }

  /** Moves to a field that cannot be sent, unfolding what hides it. */
  focus(name: string): void {
    const field = this.#fields().find((one) => one.name === name);
    for (let at = field?.closest('details'); at; at = at.parentElement?.closest('details')) {
      at.open = true;
    }
    field?.focus();
  }

  #fields(): (HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement)[] {
    return [...this.#form.elements].filter(
      (one) =>
        (one instanceof HTMLInputElement ||
          one instanceof HTMLTextAreaElement ||
          one instanceof HTMLSelectElement) &&
        one.name !== '',
    ) as (HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement)[];
  }
}
