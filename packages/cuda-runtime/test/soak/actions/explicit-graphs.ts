import type { Graph, GraphNode } from '../../../src/index.js';
import type { Replay, Session } from '../session.js';
import { kernelOf, noteHistory, type Slot, type Step, slotsOf } from '../step.js';
import { retireReplay } from './captured-graphs.js';

/** Builds a graph node by node, each step behind the last ones that touched its slots. */
export async function buildReplay(s: Session): Promise<void> {
  const steps = Array.from({ length: s.random.integer(1, 8) }, () => s.randomStep());
  const notifications = s.random.integer(0, 2);
  const graph = s.t.device.createGraph();
  const shape = s.pick(['chain', 'parallel'] as const);
  const nodes = addAll(s, graph, steps, shape);
  for (let index = 0; index < notifications; index += 1) {
    graph.addNotify(() => {
      s.notifications += 1;
    }, nodes.slice(-1));
  }
  const whole = s.isLikely(0.2) ? graph.clone() : graph;
  const exec = s.isLikely(0.5) ? whole.instantiateSync() : await whole.instantiate();
  // Nodes of a clone are its own, and only a chain can be changed without a look at the memory.
  const known = whole === graph && shape === 'chain' ? nodes : [];
  const name = `built${s.operations}${shape}`;
  const replay: Replay = { name, exec, steps, nodes: known, disabled: new Set(), notifications };
  if (whole !== graph) graph.dispose();
  if (s.isLikely(0.9)) whole.dispose();
  s.note('node', nodes.length + notifications);
  s.note('instantiate');
  s.launch(replay);
  s.replays.push(replay);
  if (s.replays.length > 6) retireReplay(s);
}

/** Changes an executable, perhaps while it runs: one node, or all by another graph. */
export function updateReplay(s: Session): void {
  const built = s.replays.filter(({ nodes }) => nodes.length > 0);
  if (built.length === 0) return;
  const replay = s.pick(built);
  if (s.isLikely(0.5)) s.launch(replay);
  const how = s.pick(['set', 'set', 'enable', 'update', 'refused'] as const);
  if (how === 'update') updateAll(s, replay);
  else if (how === 'refused') updateRefused(s, replay);
  else changeNode(s, replay, how);
  s.note('update');
  for (const step of replay.steps) noteHistory(step.y, `${replay.name} updated by ${how}`);
  s.launch(replay);
}

// Each behind the one before, or only behind those that touched the same memory.
function addAll(
  s: Session,
  graph: Graph,
  steps: readonly Step[],
  shape: 'chain' | 'parallel',
): readonly GraphNode[] {
  const last = new Map<Slot, GraphNode>();
  let previous: GraphNode | undefined;
  return steps.map((step) => {
    const needed = new Set(slotsOf(step).flatMap((slot) => last.get(slot) ?? []));
    const after = shape === 'parallel' ? [...needed] : previous ? [previous] : [];
    const node = addStep(s, graph, step, after);
    for (const slot of slotsOf(step)) last.set(slot, node);
    previous = node;
    return node;
  });
}

function addStep(s: Session, graph: Graph, step: Step, after: readonly GraphNode[]): GraphNode {
  const y = step.y.tensor;
  if (step.kind === 'copy') return graph.addCopy(y, step.from.tensor, undefined, after);
  if (step.kind === 'fill') return graph.addFill(y, step.byte, undefined, after);
  return graph.addKernel(...kernelOf(s.t, step), after);
}

// Of the same kind, on other memory: the nodes of these graphs are a chain, so that the order stays
// right.
function otherStep(s: Session, { kind }: Step): Step {
  for (;;) {
    const step = s.randomStep();
    if (step.kind === kind) return step;
  }
}

function changeNode(s: Session, replay: Replay, how: 'set' | 'enable'): void {
  const index = s.random.integer(0, replay.nodes.length);
  const [node, old] = [replay.nodes[index], replay.steps[index]];
  if (!node || !old) throw new RangeError(`no step ${index}`);
  if (how === 'enable') {
    const isOn = replay.disabled.has(index);
    replay.exec.setEnabled(node, isOn);
    if (isOn) replay.disabled.delete(index);
    else replay.disabled.add(index);
    return;
  }
  const step = otherStep(s, old);
  const y = step.y.tensor;
  if (step.kind === 'copy') replay.exec.setCopy(node, y, step.from.tensor);
  else if (step.kind === 'fill') replay.exec.setFill(node, y, step.byte);
  else replay.exec.setKernel(node, ...kernelOf(s.t, step));
  replay.steps[index] = step;
}

// A graph of the same shape; notify nodes would have to be there too.
function updateAll(s: Session, replay: Replay): void {
  if (replay.notifications > 0) return;
  const steps = replay.steps.map((step) => otherStep(s, step));
  const graph = s.t.device.createGraph();
  addAll(s, graph, steps, 'chain');
  const report = replay.exec.update(graph);
  if (!report.ok) throw new Error(`an update was refused: ${JSON.stringify(report)}`);
  replay.steps.splice(0, steps.length, ...steps);
  graph.dispose();
}

function updateRefused(s: Session, replay: Replay): void {
  const graph = s.t.device.createGraph();
  addAll(s, graph, [s.randomStep(), s.randomStep()], 'chain');
  for (let more = 0; more < replay.nodes.length; more += 1) graph.addEmpty();
  const report = replay.exec.update(graph);
  if (report.ok) throw new Error('an update with other nodes was not refused');
  graph.dispose();
}
