export type {
  ExportHolder,
  GraphHolder,
  HandleHolder,
  HandleObject,
  LiveRecord,
  LiveRecordKind,
  OtherRecordHolder,
  PassingHolder,
  RecordHolder,
  WorkHolder,
} from './audit/live-record.js';
export type {
  AllocOptions,
  CaptureOptions,
  Device,
  DeviceBuffer,
  Graph,
  GraphExec,
  InstantiateOptions,
  Kernel,
  KernelParams,
  Memory,
  Module,
  OnStream,
  ParamValue,
  Runtime,
  Stream,
  StreamRegistry,
  TensorAllocator,
} from './contract.js';
export type { CpuCost, OperationCost } from './cpu/cpu-cost.js';
export type { CpuLevelName, CpuOptions, CpuSchedule } from './cpu/cpu-options.js';
export { type DType, dtypeBytes, isDType } from './dtype.js';
export {
  ArgumentError,
  BackendMismatchError,
  BackendUnavailableError,
  BusyError,
  CaptureError,
  CudaRuntimeError,
  DeadlockError,
  DeviceLostError,
  DisposedError,
  EventStateError,
  FileError,
  GraphExecBrokenError,
  GraphInstantiateError,
  GraphLifetimeError,
  HostCallbackError,
  KernelImageError,
  LaunchConfigError,
  type LiveBuffer,
  NotOwnerError,
  OutOfMemoryError,
  QueueFullError,
  type Race,
  RaceError,
  type UnavailableReason,
  WrongThreadError,
} from './errors/index.js';
export {
  type FileDestination,
  type FileReport,
  MappedFile,
  type MappedFileOptions,
} from './file/mapped-file.js';
export type { CaptureMode } from './graph/capture-mode.js';
export { type CapturedOrRun, captureOrRun } from './graph/capture-or-run.js';
export type { Condition } from './graph/condition.js';
export type { UpdateReport } from './graph/exec/update-report.js';
export type {
  EdgeOptions,
  GraphAccess,
  GraphEdge,
  GraphJson,
  GraphNode,
} from './graph/graph-node.js';
export type { DotOptions, DriverDotOptions } from './graph/pictures/graph-dot.js';
export type { KernelAttributes, KernelCode } from './launch/kernel-attributes.js';
export { KernelLibrary, type KernelLibraryOptions } from './launch/kernel-library.js';
export type { Dim3, LaunchConfig } from './launch/launch-config.js';
export type { ModuleSource } from './launch/module-source.js';
export type { CallbackParams, NativeCallback } from './launch/native-callback.js';
export type { ParamField, ParamsLayout, ParamType } from './launch/params/params-layout.js';
export type { DeviceLimits } from './limits.js';
export type { HostBuffer } from './memory/host-buffer.js';
export { withScratch, withScratchBytes } from './memory/scratch.js';
export { Tensor, type TensorLayout } from './memory/tensor.js';
export { Workspace, type WorkspaceMark, type WorkspaceOptions } from './memory/workspace.js';
export { open, openSync } from './open.js';
export type { OpenOptions } from './open-options.js';
export {
  ArgumentChecks,
  type ArgumentErrorClass,
  type ArgumentErrors,
  type CheckedCall,
} from './operation/argument-checks.js';
export { dependentConfig } from './operation/dependent-config.js';
export { OperationError, type OperationErrorFacts } from './operation/operation-error.js';
export type { OperationOptions } from './operation/operation-options.js';
export { type TensorFault, type TensorRule, tensorFault } from './operation/tensor-fault.js';
export type { PoolOptions } from './pool-options.js';
export { type BackendName, type BackendReport, probe, probeSync } from './probe.js';
export type { LatencyHistogram, LaunchKind, RuntimeReport, RuntimeStats } from './report.js';
export { Event, type EventState } from './stream/event.js';
export {
  type Branch,
  type ForkJoinOptions,
  forkJoin,
  withAlt,
} from './stream/fork-join.js';
export type { QueuePolicy } from './stream/pending-limit.js';
export type { StreamOptions } from './stream/stream-options.js';
export { StreamPool, type StreamPoolOptions } from './stream/stream-pool.js';
export type { WaitOptions } from './stream/wait-options.js';
export { exportHandle } from './threads/export-handle.js';
export type { ExportableKind, ExportableObjects } from './threads/exportable.js';
export { importHandle } from './threads/import-handle.js';
export type {
  CaptureMessage,
  DeviceLostMessage,
  GuardMessage,
  LeakMessage,
} from './trace/diagnostics.js';
export { type Nvtx, nvtx } from './trace/nvtx.js';
export type { Overlap, SpanSelection } from './trace/overlap.js';
export type { Trace, TraceOptions } from './trace/trace.js';
export { TraceData } from './trace/trace-data.js';
export type {
  CaptureMark,
  HostRange,
  MemorySample,
  TraceContent,
  TraceFlow,
  TraceLosses,
  TraceSpan,
} from './trace/trace-span.js';
