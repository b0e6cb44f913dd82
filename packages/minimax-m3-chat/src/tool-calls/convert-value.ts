import { undeclared, type ValueSchema } from './schema.js';

/** A parameter as the model wrote it: text, or nested tags. */
export interface ValueNode {
  readonly name: string;
  text: string;
  readonly children: ValueNode[];
}

/** Told about things that were dropped on the way to JSON. */
export type DropListener = (what: 'repeated-parameter' | 'mixed-text') => void;

const strictNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const looseNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * The JSON text of a parameter. Never throws: what does not fit its schema stays a string.
 *
 * Types are tried in the order null, boolean, integer, number, object, array, string. Integers
 * are copied as digits, so that those beyond 2^53 survive.
 */
export function convertValue(node: ValueNode, schema: ValueSchema, onDrop: DropListener): string {
  if (node.children.length > 0) {
    if (node.text.trim() !== '') onDrop('mixed-text');
    return isArrayNode(node, schema)
      ? convertItems(node.children, schema, onDrop)
      : convertObject(node, schema, onDrop);
  }
  return convertLeaf(node.text, schema);
}

/** JSON text of an array parameter whose tag was repeated: each tag is one element. */
export function convertRepeated(
  nodes: readonly ValueNode[],
  schema: ValueSchema,
  onDrop: DropListener,
): string {
  if (nodes.length === 1 && nodes[0] !== undefined) return convertValue(nodes[0], schema, onDrop);
  const elements: ValueNode[] = [];
  for (const node of nodes) {
    if (isArrayNode(node, schema) && node.children.length > 0) elements.push(...node.children);
    else elements.push(node);
  }
  return convertItems(elements, schema, onDrop);
}

function isArrayNode(node: ValueNode, schema: ValueSchema): boolean {
  const isList = node.children.every((child) => child.name === 'item');
  if (!isList || !schema.hasProperty('item')) return isList;
  // One may be the property; an object has no second one, unless that is a list itself.
  const isOneList = schema.property('item')?.types.has('array') === true;
  return node.children.length > 1 && schema.types.has('array') && !isOneList;
}

function convertItems(
  items: readonly ValueNode[],
  schema: ValueSchema,
  onDrop: DropListener,
): string {
  return `[${items.map((item, i) => convertValue(item, schema.item(i), onDrop)).join(',')}]`;
}

function convertObject(node: ValueNode, schema: ValueSchema, onDrop: DropListener): string {
  const groups = new Map<string, ValueNode[]>();
  for (const child of node.children) {
    const group = groups.get(child.name);
    if (group === undefined) groups.set(child.name, [child]);
    else group.push(child);
  }
  const members = Array.from(groups, ([name, group]) => {
    const property = schema.property(name) ?? undeclared;
    const value = convertGroup(group, property, onDrop);
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join(',')}}`;
}

function convertGroup(group: ValueNode[], schema: ValueSchema, onDrop: DropListener): string {
  if (schema.types.has('array')) return convertRepeated(group, schema, onDrop);
  for (let i = 1; i < group.length; i++) onDrop('repeated-parameter');
  return convertRepeated(group.slice(0, 1), schema, onDrop);
}

/** The JSON text of a value without nested tags. */
function convertLeaf(text: string, schema: ValueSchema): string {
  const { types, choices } = schema;
  const word = text.trim();
  if (types.has('null') && (isNullWord(word) || (word === '' && !types.has('string'))))
    return 'null';
  if (choices.includes(text)) return JSON.stringify(text);
  const chosen = choices.find(
    (choice) => typeof choice !== 'string' && JSON.stringify(choice) === word,
  );
  if (chosen !== undefined) return JSON.stringify(chosen);
  return (
    (types.has('boolean') ? toBoolean(word, types.size === 1) : null) ??
    (types.has('integer') ? toInteger(word) : null) ??
    (types.has('number') ? toNumber(word) : null) ??
    (types.has('object') ? toContainer(word, 'object') : null) ??
    (types.has('array') ? toContainer(word, 'array') : null) ??
    (types.has('array') && !types.has('string') ? `[${convertElement(text, schema)}]` : null) ??
    JSON.stringify(text)
  );
}

/** Text in the place of an array: the one element of it. */
function convertElement(text: string, schema: ValueSchema): string {
  const item = schema.item(0);
  return item.types.has('array') ? JSON.stringify(text) : convertLeaf(text, item);
}

function isNullWord(word: string): boolean {
  return word === 'null' || word === 'Null' || word === 'NULL';
}

/** Besides true and false, `1 yes on 0 no off` count where nothing but a boolean is allowed. */
function toBoolean(word: string, isOnlyType: boolean): string | null {
  const lower = word.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower;
  if (!isOnlyType) return null;
  if (lower === '1' || lower === 'yes' || lower === 'on') return 'true';
  return lower === '0' || lower === 'no' || lower === 'off' ? 'false' : null;
}

function toInteger(word: string): string | null {
  const [, sign, digits] = /^([+-]?)(\d+)(?:\.0*)?$/.exec(word) ?? [];
  if (digits !== undefined) {
    const canonical = digits.replace(/^0+/, '') || '0';
    return sign === '-' && canonical !== '0' ? `-${canonical}` : canonical;
  }
  const value = looseNumber.test(word) ? Number(word) : Number.NaN;
  return Number.isSafeInteger(value) ? String(value) : null;
}

function toNumber(word: string): string | null {
  if (!looseNumber.test(word) || !Number.isFinite(Number(word))) return null;
  return strictNumber.test(word) ? word : (toInteger(word) ?? JSON.stringify(Number(word)));
}

/** JSON text of an object or array, spacing removed; an empty text is the empty container. */
function toContainer(word: string, type: 'object' | 'array'): string | null {
  if (word === '') return type === 'object' ? '{}' : '[]';
  if (!word.startsWith(type === 'object' ? '{' : '[')) return null;
  try {
    JSON.parse(word);
    return compactJson(word);
  } catch {
    return null; // not JSON: the caller goes on with the next type
  }
}

/** Removes spacing outside strings. Keeps digits and key order, which a parse would not. */
function compactJson(json: string): string {
  const pieces: string[] = [];
  let start = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inString && code === 0x5c) i++;
    else if (code === 0x22) inString = !inString;
    else if (!inString && code <= 0x20) {
      pieces.push(json.slice(start, i));
      start = i + 1;
    }
  }
  pieces.push(json.slice(start));
  return pieces.join('');
}
