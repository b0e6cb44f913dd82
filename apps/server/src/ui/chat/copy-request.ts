import { toCurl } from '../conversation/export.js';
import { toNode, toPython } from '../conversation/snippets.js';
import { apiKey } from '../shell/api-key.js';
import { byId } from '../shell/element.js';
import { saveFile } from './save-file.js';

/** The next request as a program, by the button that asks for it. */
const forms: Readonly<Record<string, readonly [file: string, text: (body: Body) => string]>> = {
  'copy-curl': [
    'request.sh',
    (body) => toCurl(`${apiBase()}/chat/completions`, body, apiKey() !== ''),
  ],
  'copy-node': ['request.mjs', (body) => toNode(apiBase(), body)],
  'copy-python': ['request.py', (body) => toPython(apiBase(), body)],
};

type Body = Record<string, unknown>;

/**
 * Makes the buttons copy the next request; where nothing can be copied they save a file.
 *
 * @param bodyOf what would be sent now; may throw
 * @param say shows what came of it
 */
export function copyRequests(bodyOf: () => Body, say: (text: string) => void): void {
  for (const [id, [file, textOf]] of Object.entries(forms)) {
    byId(id, HTMLButtonElement).addEventListener('click', () => {
      try {
        const text = textOf({ ...bodyOf(), stream: true });
        const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error());
        copied.then(
          () => say('Copied.'),
          () => saveFile(file, `${text}\n`, 'text/plain'),
        );
      } catch (error) {
        say((error as Error).message);
      }
    });
  }
}

function apiBase(): string {
  return new URL('../v1', document.baseURI).href;
}
