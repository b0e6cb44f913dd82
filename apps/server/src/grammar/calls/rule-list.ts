import { fieldError } from '../../openai/parse-body.js';
import { oneOf } from '../choices/one-of.js';

const mostRules = 4096;
const mostDepth = 64;
const mostBytes = 2 ** 20;
/** Keys and the like that are looked at, some tenths of a microsecond each. */
const mostSteps = 2 ** 17;
/** Of choices. */
const lettersOfStep = 4;

/** Text and JSON without the beginning of a marker. */
const leafRules = [
  'text ::= ([^\\]] | "]"+ [^<\\]])* "]"*',
  // A text that nobody takes for JSON, where JSON is allowed, too.
  'plain ::= [^\\]\\[{ \\t\\n\\r] text',
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
  'number ::= integer ("." [0-9]{1,15})? ([eE] [+-]? [0-9]{1,2})?',
  'boolean ::= "true" | "false"',
  'null ::= "null"',
  'space ::= [ \\n]{0,20}',
  'escape ::= "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  'chars ::= (([^"\\\\\\]\\x00-\\x1f] | escape) | "]"+ ([^<"\\\\\\]\\x00-\\x1f] | escape))* "]"*',
  'string ::= "\\"" chars "\\""',
  'value ::= string | number | boolean | null | object | array',
  'object ::= "{" space (string space ":" space value space ("," space string space ":" space value space)*)? "}"',
  'array ::= "[" space (value space ("," space value space)*)? "]"',
];

/**
 * Rules of a grammar while they are made; each place of a schema has one, so that schemas may go
 * round.
 */
export class RuleList {
  readonly param: string;
  readonly #lines: string[] = [];
  readonly #known = new Map<string, WeakMap<object, string>>();
  readonly #ids = new WeakMap<object, number>();
  readonly #shared = new Map<string, string>();
  readonly #recalled = new Map<string, unknown>();
  #bytes = leafRules.reduce((sum, rule) => sum + rule.length, 0);
  #steps = 0;
  #next = 0;
  #nextId = 0;
  #depth = 0;

  /** @param param the field of the request that is blamed for too many rules */
  constructor(param: string) {
    this.param = param;
  }

  /** Adds a rule. @returns its name */
  add(body: string): string {
    const name = this.#name();
    this.#keep(`${name} ::= ${body}`);
    return name;
  }

  /** The rule of a body, one for all that are alike. @returns its name */
  share(body: string): string {
    const name = this.#shared.get(body) ?? this.add(body);
    this.#shared.set(body, name);
    return name;
  }

  /** One of several texts, as a body of rules. */
  oneOf(texts: readonly string[]): string {
    const letters = texts.reduce((sum, text) => sum + text.length, 0);
    this.look(texts.length + Math.ceil(letters / lettersOfStep));
    return oneOf(texts, (body) => this.add(body));
  }

  /** What was made for a key, made when it is wanted for the first time. */
  recall<T>(key: string, make: () => T): T {
    if (!this.#recalled.has(key)) this.#recalled.set(key, make());
    return this.#recalled.get(key) as T;
  }

  /**
   * Counts what is looked at to make the rules: of much of it little may come, and nobody else's
   * request is read meanwhile.
   */
  look(steps: number): void {
    this.#steps += steps;
    if (this.#steps > mostSteps) {
      this.#refuse(`needs more than ${mostSteps} steps to become rules`);
    }
  }

  /** The rule of an object for a purpose, made when it is wanted for the first time. */
  of(purpose: string, key: unknown, make: () => string): string {
    if (typeof key !== 'object' || key === null) return this.add(make());
    if (this.#depth >= mostDepth) this.#refuse(`has more than ${mostDepth} levels`);
    const known = this.#known.get(purpose) ?? new WeakMap<object, string>();
    this.#known.set(purpose, known);
    const before = known.get(key);
    if (before) return before;
    const name = this.#name();
    known.set(key, name);
    this.#depth += 1;
    const body = make();
    this.#depth -= 1;
    this.#keep(`${name} ::= ${body}`);
    return name;
  }

  /** A number for an object, always the same. */
  idOf(key: object): number {
    const id = this.#ids.get(key) ?? this.#nextId++;
    this.#ids.set(key, id);
    return id;
  }

  /** The whole grammar. */
  text(root: string): string {
    const line = `root ::= ${root}`;
    this.#count(line);
    return [line, ...this.#lines, ...leafRules].join('\n');
  }

  #keep(line: string): void {
    this.#count(line);
    this.#lines.push(line);
  }

  /** Too many are refused while they are made, not when all of them are there. */
  #count(line: string): void {
    this.#bytes += Buffer.byteLength(line) + 1;
    if (this.#bytes > mostBytes) this.#refuse(`needs more than ${mostBytes / 1024} KiB of rules`);
  }

  #name(): string {
    if (this.#next >= mostRules) this.#refuse(`needs more than ${mostRules} rules`);
    return `r${this.#next++}`;
  }

  #refuse(problem: string): never {
    throw fieldError(this.param, `a schema of a tool ${problem}`, 'invalid_schema');
  }
}
