import { checkFlag, wrongKind } from '../../arguments/faults.js';
import { checkOptions, type OptionNames } from '../../arguments/options.js';
import { escapeXml, streamColour } from '../../svg-text.js';
import type { GraphJson, GraphNode } from '../graph-node.js';
import { dotEdge, dotNode } from './dot-format.js';

/** How a graph is written for Graphviz. */
export interface DotOptions {
  /** Each node's label lists the bytes that it reads and writes; default false. */
  readonly accesses?: boolean;
  /** Dependencies downwards (`TB`, the default) or to the right. */
  readonly rankdir?: 'TB' | 'LR';
}

/** How the driver writes a graph for Graphviz. */
export interface DriverDotOptions {
  /** With all that the driver knows of each node, such as handles and parameters; default true. */
  readonly verbose?: boolean;
}

const driverNames: OptionNames<DriverDotOptions> = { verbose: true };

/** Whether to tell all. @throws ArgumentError naming the option */
export function isVerbose(api: string, options: DriverDotOptions): boolean {
  checkOptions(api, 'options', options, driverNames);
  const { verbose = true } = options;
  checkFlag(api, 'verbose', verbose);
  return verbose;
}

/**
 * Graphviz text of a graph: the same for the same program, on both backends and in every run. Nodes
 * of one stream share a colour, which the graph's label explains. Child graphs and bodies are
 * clusters.
 */
export function graphToDot(graph: GraphJson, options: DotOptions = {}): string {
  const { accesses = false, rankdir = 'TB' } = checkDot(options);
  const streams = [...new Set(graph.nodes.map(({ stream }) => stream))];
  return [
    'digraph graph_nodes {',
    ...(rankdir === 'LR' ? ['  rankdir=LR;'] : []),
    '  node [shape=box, style=filled, fontname=sans];',
    ...legend(streams),
    ...statements(graph, { streams, accesses }, 'n').map((line) => `  ${line}`),
    '}\n',
  ].join('\n');
}

const names: OptionNames<DotOptions> = { accesses: true, rankdir: true };

/** @throws ArgumentError naming the option */
function checkDot(options: DotOptions): DotOptions {
  const api = 'graph.toDot';
  checkOptions(api, 'options', options, names);
  const { accesses = false, rankdir = 'TB' } = options;
  checkFlag(api, 'accesses', accesses);
  if (rankdir !== 'TB' && rankdir !== 'LR') throw wrongKind(api, 'rankdir', rankdir, 'TB or LR');
  return options;
}

interface Drawing {
  readonly streams: readonly string[];
  readonly accesses: boolean;
}

// `prefix` begins the names of nodes, so that those of nested graphs differ.
function statements(graph: GraphJson, drawing: Drawing, prefix: string): readonly string[] {
  const { streams, accesses } = drawing;
  return [
    ...graph.nodes.map((node) =>
      dotNode(node, { stream: streams.indexOf(node.stream), prefix, accesses }),
    ),
    ...graph.nodes.flatMap((node) => inside(node, drawing, prefix)),
    ...graph.edges.map((edge) => dotEdge(edge, prefix)),
  ];
}

function inside(node: GraphNode, drawing: Drawing, prefix: string): readonly string[] {
  const parts = node.child ? [node.child] : (node.bodies ?? []);
  return parts.flatMap((part, index) => {
    const name = `${prefix}${node.id}_${index}`;
    const label = node.child ? `child of ${node.id}` : `body ${index} of ${node.id}`;
    const lines = statements(part, drawing, `${name}_`).map((line) => `  ${line}`);
    return [`subgraph cluster_${name} {`, `  label="${label}";`, ...lines, '}'];
  });
}

// Ids of streams differ from run to run: a name has a number only where two streams share it.
function legend(streams: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  const cells = streams.flatMap((stream, index) => {
    if (stream === '') return [];
    const name = stream.replace(/#\d+$/, '');
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const text = escapeXml(count === 1 ? name : `${name} (${count})`);
    return [`<td bgcolor="${streamColour(index)}">${text}</td>`];
  });
  if (cells.length === 0) return [];
  return [`  label=<<table border="0" cellspacing="4"><tr>${cells.join('')}</tr></table>>;`];
}
