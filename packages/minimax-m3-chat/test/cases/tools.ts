import type { ToolDefinition } from '../../src/index.js';

function tool(name: string, properties: Record<string, unknown>): ToolDefinition {
  return { type: 'function', function: { name, parameters: { type: 'object', properties } } };
}

/** Tools of the examples: one schema of each kind. */
export const weatherTools: readonly ToolDefinition[] = [
  tool('get_weather', {
    city: { type: 'string' },
    days: { type: 'integer' },
    note: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
  }),
  tool('plan', {
    stops: { type: 'array', items: { type: 'string' } },
    opts: { type: 'object', properties: { fast: { type: 'boolean' } } },
  }),
  tool('ping', {}),
];
