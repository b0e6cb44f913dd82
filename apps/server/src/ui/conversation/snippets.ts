type Body = Readonly<Record<string, unknown>>;

/** Fields that OpenAI's Python client has by name; others go into `extra_body`. */
const ofPython = new Set([
  ...['model', 'messages', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'n'],
  ...['seed', 'stop', 'stream', 'stream_options', 'frequency_penalty', 'presence_penalty'],
  ...['logit_bias', 'logprobs', 'top_logprobs', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['response_format', 'reasoning_effort', 'user', 'metadata'],
]);

/**
 * A streamed request as a program for OpenAI's client in Node.js; the key is named, never written.
 *
 * @param base address of the API, such as `http://127.0.0.1:8000/v1`
 */
export function toNode(base: string, body: Body): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${JSON.stringify(base)},
  apiKey: process.env.ALTSTREAM_API_KEY ?? 'none',
});
const stream = await client.chat.completions.create(${JSON.stringify(body, null, 2)});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
}
`;
}

/** The same for OpenAI's client in Python. */
export function toPython(base: string, body: Body): string {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  const own = entries.filter(([name]) => ofPython.has(name));
  const further = Object.fromEntries(entries.filter(([name]) => !ofPython.has(name)));
  const named = own.map(([name, value]) => `    ${name}=${pythonText(value, 1)},\n`);
  const rest =
    Object.keys(further).length === 0 ? '' : `    extra_body=${pythonText(further, 1)},\n`;
  return `import os

from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(base)},
    api_key=os.environ.get("ALTSTREAM_API_KEY", "none"),
)
stream = client.chat.completions.create(
${named.join('')}${rest})
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
`;
}

/** A JSON value as Python writes it; its strings are Python's, too. */
function pythonText(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => pythonText(item, depth + 1))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}: ${pythonText(item, depth + 1)}`,
      );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return open + close;
  const space = '    '.repeat(depth);
  return `${open}\n${items.map((item) => `${space}    ${item},\n`).join('')}${space}${close}`;
}
