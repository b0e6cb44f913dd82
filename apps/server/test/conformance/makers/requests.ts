/** One question, for requests whose content does not matter. */
export const messages = [{ role: 'user' as const, content: 'Hi' }];

/** Posts a body as JSON. */
export function post(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** The data of each event of a stream, in order. */
export function dataOf(stream: string): string[] {
  return stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
}
