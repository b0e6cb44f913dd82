import { ArgumentWriter } from './argument-writer.js';
import {
  convertRepeated,
  convertValue,
  type DropListener,
  type ValueNode,
} from './convert-value.js';

import type { DeltaQueue } from './output-delta.js';
import type { ParserFaults } from './parser-faults.js';
import type { MarkedTag } from './plain-tag.js';
import { undeclared, ValueSchema } from './schema.js';

const maxDepth = 64;
const nullWords = ['null', 'Null', 'NULL'];

/**
 * The arguments of one call while they arrive: parameter tags in, JSON out. Strings are written as
 * they grow; everything else when its tag closes.
 */
export class CallArguments {
  readonly #schema: ValueSchema;
  readonly #writer: ArgumentWriter;
  readonly #faults: ParserFaults;
  readonly #seen = new Set<string>();
  /** The open parameter and, inside it, the open nested tags. */
  readonly #open: ValueNode[] = [];
  /** How the open parameter is written. */
  #mode: 'undecided' | 'collect' | 'string' | 'dropped' = 'undecided';
  #parameter: ValueSchema = undeclared;
  /** Closed tags of an array parameter: the next tag may be one more element. */
  #repeated: ValueNode[] = [];
  #hasDroppedText = false;

  /** @param parameters JSON schema of the arguments object, or undefined */
  constructor(parameters: unknown, index: number, deltas: DeltaQueue, faults: ParserFaults) {
    this.#schema = new ValueSchema(parameters);
    this.#writer = new ArgumentWriter(deltas, index);
    this.#faults = faults;
  }

  /** True inside a parameter. */
  get isInValue(): boolean {
    return this.#open.length > 0;
  }

  /** True if a tag of this name is open. */
  hasOpen(name: string): boolean {
    return this.#open.some((node) => node.name === name);
  }

  /** Text of the open value; between parameters it is dropped. */
  text(text: string): void {
    const node = this.#open.at(-1);
    if (node === undefined) {
      if (!this.#hasDroppedText && text.trim() !== '') {
        this.#hasDroppedText = true;
        this.#faults.droppedText++;
      }
      return;
    }
    if (this.#mode === 'dropped' || this.#writer.isTooLarge) return;
    if (this.#mode === 'string') {
      this.#writer.growString(text);
      return;
    }
    node.text += text;
    if (this.#mode === 'undecided' && this.#open.length === 1) this.#decide(node, text);
  }

  /** An opening tag: a parameter, or a nested value. */
  openTag(tag: MarkedTag): void {
    const node = this.#open.at(-1);
    if (node !== undefined && this.#endsElidedValue(node, tag.name)) {
      this.#faults.impliedClose++;
      this.#closeParameter();
    }
    if (this.#open.length === 0) this.#openParameter(tag.name);
    else if (this.#mode === 'string' || this.#open.length >= maxDepth) this.#asText(tag);
    else this.#openNested(tag.name);
  }

  /** A closing tag; one that closes nothing is dropped. */
  closeTag(tag: MarkedTag): void {
    const depth = this.#open.findLastIndex((node) => node.name === tag.name);
    if (depth < 0) {
      this.#faults.unexpectedTag++;
      return;
    }
    if (depth < this.#open.length - 1) this.#faults.impliedClose++;
    if (depth === 0) this.#closeParameter();
    else this.#open.length = depth;
  }

  /** The call is over; an open parameter ends with it. */
  close(): boolean {
    if (this.isInValue) {
      this.#faults.impliedClose++;
      this.#closeParameter();
    }
    this.#writeRepeated();
    this.#writer.close();
    if (this.#writer.isTooLarge) this.#faults.truncatedCall++;
    return !this.#writer.isTooLarge;
  }

  /** The output is over: closes the JSON if no value is open. Returns whether it is complete. */
  cutOff(): boolean {
    if (!this.isInValue) return this.close();
    this.#faults.truncatedCall++;
    return false;
  }

  #openParameter(name: string): void {
    this.#hasDroppedText = false;
    const first = this.#repeated[0];
    if (first !== undefined && first.name !== name) this.#writeRepeated();
    const isElement = this.#repeated.length > 0;
    const isRepeated = this.#seen.has(name) && !isElement;
    this.#seen.add(name);
    if (isRepeated) this.#faults.repeatedParameter++;
    this.#parameter = this.#schema.property(name) ?? undeclared;
    this.#mode = isRepeated ? 'dropped' : isElement ? 'collect' : 'undecided';
    this.#open.push({ name, text: '', children: [] });
  }

  #openNested(name: string): void {
    const child: ValueNode = { name, text: '', children: [] };
    this.#open.at(-1)?.children.push(child);
    this.#open.push(child);
    if (this.#mode === 'undecided') this.#mode = 'collect';
  }

  /**
   * A string is written as soon as nothing but a string can come of the text. White space never
   * decides that, so it is not looked at again and again.
   */
  #decide(node: ValueNode, added: string): void {
    const schema = this.#parameter;
    const isString =
      schema.isPlainString ||
      (added.trim() !== '' &&
        (!schema.isDeclared || (schema.isNullableString && !mayBecomeNull(node.text))));
    if (!isString) return;
    this.#mode = 'string';
    this.#writer.beginString(node.name);
    this.#writer.growString(node.text);
  }

  /** `<days>3 <city>`: the closing tag was left out, and the new tag is no part of the value. */
  #endsElidedValue(node: ValueNode, next: string): boolean {
    const isLeaf = this.#open.length === 1 && node.children.length === 0;
    if (!isLeaf || !this.#schema.hasProperty(next) || this.#parameter.hasProperty(next))
      return false;
    return this.#mode === 'string' || node.text.trim() !== '';
  }

  #asText(tag: MarkedTag): void {
    this.#faults.unexpectedTag++;
    this.text(tag.raw);
  }

  #closeParameter(): void {
    const [node] = this.#open;
    this.#open.length = 0;
    if (node === undefined || this.#mode === 'dropped') return;
    if (this.#mode === 'string') this.#writer.endString();
    else if (this.#parameter.types.has('array')) this.#repeated.push(node);
    else this.#writer.member(node.name, convertValue(node, this.#parameter, this.#onDrop));
  }

  #writeRepeated(): void {
    const [first] = this.#repeated;
    if (first === undefined) return;
    const schema = this.#schema.property(first.name) ?? undeclared;
    this.#writer.member(first.name, convertRepeated(this.#repeated, schema, this.#onDrop));
    this.#repeated = [];
  }

  readonly #onDrop: DropListener = (what) => {
    if (what === 'mixed-text') this.#faults.mixedText++;
    else this.#faults.repeatedParameter++;
  };
}

/** True for white space and the beginning of a null word. */
function mayBecomeNull(text: string): boolean {
  const word = text.trim();
  return nullWords.some((candidate) => candidate.startsWith(word));
}
