import type { ChatCompletionTool } from 'openai/resources/chat/completions';

/** The marker in front of each of the model's tags. */
export const ns = ']<]minimax[>[';

/** A parameter; what is in it may be parameters. */
export const param = (name: string, value: string): string =>
  `${ns}<${name}>${value}${ns}</${name}>`;

/** A call of one tool. */
export const invoke = (name: string, ...params: readonly string[]): string =>
  `${ns}<invoke name="${name}">${params.join('')}${ns}</invoke>\n`;

/** Calls in one block, as the model writes them. */
export const call = (...invokes: readonly string[]): string =>
  `${ns}<tool_call>\n${invokes.join('')}${ns}</tool_call>`;

/** A tool with these properties. */
export const tool = (name: string, properties: object = {}): ChatCompletionTool => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties } },
});

/** A tool that takes a city and a number of days. */
export const weather = tool('weather', { city: { type: 'string' }, days: { type: 'integer' } });
