import type { RuntimeValue } from './jinja-values.js';

/** A node of a parsed template, with what is read of it here. */
export interface TemplateNode {
  readonly type: string;
  readonly value?: unknown;
  readonly key?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly object?: TemplateNode;
  readonly property?: TemplateNode;
  readonly callee?: TemplateNode;
  readonly args?: readonly TemplateNode[];
  readonly operand?: TemplateNode;
  readonly left?: TemplateNode;
  readonly right?: TemplateNode;
  readonly operator?: { readonly value: string };
  readonly computed?: boolean;
  /** A value in place of a node, ours. */
  readonly known?: RuntimeValue;
  /** A literal that is compared and never written, ours. */
  readonly isPlain?: boolean;
}

/** A value in place of the node that it was evaluated from. */
export function known(value: RuntimeValue): TemplateNode {
  return { type: 'KnownValue', known: value };
}
