import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';
import { hostRange } from '../trace/host-ranges.js';
import { graphToDot } from './graph-dot.js';
import { GraphExec, type LaunchTarget } from './graph-exec.js';
import type { GraphEdge, GraphNode } from './graph-node.js';
import { graphToSvg } from './graph-svg.js';

/** Plain data of a graph. */
export interface GraphJson {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What a graph asks of the runtime that captured it. */
export interface GraphHome {
  currentStream(): LaunchTarget;
  /** @throws RaceError */
  checkRaces(): void;
}

/** A captured graph. Retains the memory, kernels and events that its nodes use. */
export class Graph implements Disposable {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #record: NativeRecord;
  readonly #home: GraphHome;
  // Callbacks of `stream.notify` nodes live as long as the graph or an executable of it.
  readonly #callbacks: object | undefined;
  #json: GraphJson | undefined;

  /** @internal Made by `device.capture` or `stream.endCapture`. */
  constructor(handle: Handle, home: GraphHome, callbacks: object | undefined) {
    this.#record = new NativeRecord(this, handle, 'graph');
    this.#home = home;
    this.#callbacks = callbacks;
  }

  get nodes(): readonly GraphNode[] {
    return this.toJSON().nodes;
  }

  get edges(): readonly GraphEdge[] {
    return this.toJSON().edges;
  }

  /** Makes an executable graph. @throws GraphInstantiateError; RaceError with the race checker on */
  async instantiate(): Promise<GraphExec> {
    return this.instantiateSync();
  }

  /** The same; below a millisecond for a hundred nodes. */
  instantiateSync(): GraphExec {
    const native = this.#record.use('graph.instantiate');
    const handle = hostRange('instantiate', () =>
      guarded(() => environment().binding.instantiate(native)),
    );
    const exec = new GraphExec(handle, currentStreamOf(this.#home), this.#callbacks);
    try {
      this.#home.checkRaces();
    } catch (error) {
      exec.dispose();
      throw error;
    }
    return exec;
  }

  /** Nodes and edges as plain data. */
  toJSON(): GraphJson {
    const handle = this.#record.use('graph.toJSON');
    this.#json ??= parse(guarded(() => environment().binding.graphInfo(handle)));
    return this.#json;
  }

  /** Graphviz text, streams as clusters. */
  toDot(): string {
    return graphToDot(this.toJSON());
  }

  /** A self-contained picture: one coloured column a stream, time downwards. */
  toSvg(): string {
    return graphToSvg(this.toJSON());
  }

  /** Ends this object; executables made from it go on. */
  dispose(): void {
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

// Made outside the class: closures of one function share what they capture, and an executable must
// not keep its graph.
function currentStreamOf(home: GraphHome): () => LaunchTarget {
  return () => home.currentStream();
}

function parse(text: string): GraphJson {
  return JSON.parse(text) as GraphJson;
}
