/** What an executable does at its launches. */
export interface ExecOptions {
  /** A launch first frees what the last one left allocated; default false, then it is refused. */
  readonly autoFreeOnLaunch?: boolean;
  /**
   * Nodes run at the priorities of the streams that they were captured on, or of their launch;
   * default true. Else all run at that of the stream that the graph is launched on. No effect on
   * the CPU.
   */
  readonly useNodePriority?: boolean;
}
