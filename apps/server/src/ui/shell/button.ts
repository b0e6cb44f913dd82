import { type Attributes, element } from './element.js';

/** A button that does something when it is pressed. */
export function button(
  text: string,
  onPress: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onPress);
  return made;
}
