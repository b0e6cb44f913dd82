// Runs in the page at /docs, before that page's own start: the description of the API, and what is
// tried there, may need a key, which a browser does not send by itself.

import { apiKey, followApiKeyField } from '../shell/api-key.js';
import { element } from '../shell/element.js';

/** A request as the page is about to send it. */
interface PageRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
}

type MakePage = (config: Readonly<Record<string, unknown>>) => unknown;

/** The key goes to the server that served the page only. */
function withKey(request: PageRequest): PageRequest {
  const key = apiKey();
  const { origin } = new URL(request.url, location.href);
  if (key !== '' && origin === location.origin) request.headers['authorization'] = `Bearer ${key}`;
  return request;
}

const given = { type: 'password', autocomplete: 'off', spellcheck: 'false' };
const field = element('input', { id: 'api-key', ...given });
const label = element('label', {}, 'API key, where the server wants one: ', field);
document.body.prepend(element('p', { class: 'wrapper' }, label));
followApiKeyField(() => location.reload());

const page = window as unknown as { SwaggerUIBundle: MakePage };
const make = page.SwaggerUIBundle;
page.SwaggerUIBundle = Object.assign(
  (config: Parameters<MakePage>[0]) => make({ ...config, requestInterceptor: withKey }),
  make,
);
