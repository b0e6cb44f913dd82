/** One field of the settings form that is a number of the request. */
export interface NumberField {
  readonly name: string;
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number | 'any';
}

/** Sampling fields; an empty one leaves the server's default. */
export const numberFields: readonly NumberField[] = [
  { name: 'max_tokens', label: 'Most tokens', min: 1, max: 1e6, step: 1 },
  { name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 'any' },
  { name: 'top_p', label: 'Top p', min: 0, max: 1, step: 'any' },
  { name: 'top_k', label: 'Top k', min: -1, max: 1e6, step: 1 },
  { name: 'min_p', label: 'Min p', min: 0, max: 1, step: 'any' },
  { name: 'seed', label: 'Seed', min: -(2 ** 53), max: 2 ** 53, step: 1 },
  { name: 'frequency_penalty', label: 'Frequency penalty', min: -2, max: 2, step: 'any' },
  { name: 'presence_penalty', label: 'Presence penalty', min: -2, max: 2, step: 'any' },
  { name: 'repetition_penalty', label: 'Repetition penalty', min: 0, max: 2, step: 'any' },
  { name: 'top_logprobs', label: 'Alternatives of each token', min: 0, max: 20, step: 1 },
];

/** The form's fields as they were typed, by name; kept in the browser. */
export type Settings = Readonly<Record<string, string>>;

/** A field that cannot be sent. */
export class SettingsProblem extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'SettingsProblem';
    this.field = field;
  }
}

/** Request fields of the settings; what was left empty is not in it. @throws SettingsProblem */
export function requestFields(settings: Settings): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const field of numberFields) {
    const text = settings[field.name]?.trim() ?? '';
    if (text !== '') fields[field.name] = numberOf(field, text);
  }
  const stops = (settings['stop'] ?? '').split('\n').filter((line) => line !== '');
  if (stops.length > 0) fields['stop'] = stops;
  const thinking = settings['thinking'] ?? '';
  if (thinking !== '') fields['chat_template_kwargs'] = { thinking_mode: thinking };
  if ('top_logprobs' in fields) fields['logprobs'] = true;
  const schema = jsonOf(settings, 'schema', 'JSON schema');
  if (schema !== undefined) fields['response_format'] = formatOf(schema);
  const tools = jsonOf(settings, 'tools', 'Tools');
  if (tools !== undefined) fields['tools'] = arrayOf(tools);
  const further = jsonOf(settings, 'further', 'Further fields');
  if (further === undefined) return fields;
  if (isObject(further)) return { ...fields, ...further };
  throw new SettingsProblem('further', 'Further fields: expected a JSON object');
}

function formatOf(schema: unknown): Record<string, unknown> {
  if (!isObject(schema)) {
    throw new SettingsProblem('schema', 'JSON schema: expected a JSON object');
  }
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberOf({ name, label, min, max, step }: NumberField, text: string): number {
  const value = Number(text);
  const isRight = value >= min && value <= max && (step === 'any' || Number.isInteger(value));
  if (isRight) return value;
  const kind = step === 'any' ? 'a number' : 'an integer';
  throw new SettingsProblem(name, `${label}: expected ${kind} from ${min} to ${max}, not ${text}`);
}

function jsonOf(settings: Settings, name: string, label: string): unknown {
  const text = settings[name]?.trim() ?? '';
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SettingsProblem(name, `${label}: ${(error as Error).message}`);
  }
}

function arrayOf(tools: unknown): readonly unknown[] {
  if (Array.isArray(tools)) return tools;
  throw new SettingsProblem('tools', 'Tools: expected a JSON array of definitions');
}
