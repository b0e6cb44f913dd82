import type { GraphJson } from '../graph-node.js';
import type { DotOptions, DriverDotOptions } from './graph-dot.js';

/** The ways to look at a graph. */
export interface GraphPictures {
  /** Plain data, children and bodies nested in their nodes. */
  toJSON(): GraphJson;
  /** Graphviz text, the same on every backend. */
  toDot(options?: DotOptions): string;
  /** A self-contained picture: one coloured column a stream, time downwards. */
  toSvg(): string;
  /** By the driver, of an executable made for this. @throws ArgumentError on the CPU */
  driverDot(options?: DriverDotOptions): Promise<string>;
}
