import { fieldError } from '../../openai/parse-body.js';

const mostRules = 4096;
const mostDepth = 64;

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
    this.#lines.push(`${name} ::= ${body}`);
    return name;
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
    this.#lines.push(`${name} ::= ${body}`);
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
    return [`root ::= ${root}`, ...this.#lines, ...leafRules].join('\n');
  }

  #name(): string {
    if (this.#next >= mostRules) this.#refuse(`needs more than ${mostRules} rules`);
    return `r${this.#next++}`;
  }

  #refuse(problem: string): never {
    throw fieldError(this.param, `a schema of a tool ${problem}`, 'invalid_schema');
  }
}
