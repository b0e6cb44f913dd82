import { wrongKind } from '../arguments/faults.js';
import { checkObject, checkOptions, type OptionNames } from '../arguments/options.js';

/** What an operation takes: `us + bytes / bytesPerUs`, to the nanosecond. */
export interface OperationCost {
  /** Microseconds; default 0. */
  readonly us?: number;
  /**
   * Bytes a microsecond, of all that the operation reads and writes; default: bytes cost nothing.
   */
  readonly bytesPerUs?: number;
}

/** Costs on the virtual clock of the CPU backend. */
export interface CpuCost {
  /** By name of a kernel or host function. */
  readonly kernels?: Readonly<Record<string, OperationCost>>;
  /** Of kernels that `kernels` does not name; default 1 µs. */
  readonly kernel?: OperationCost;
  /** Of copies, fills, writes and reads; default nothing. */
  readonly copy?: OperationCost;
}

const names: OptionNames<CpuCost> = { kernels: true, kernel: true, copy: true };
const operationNames: OptionNames<OperationCost> = { us: true, bytesPerUs: true };

/** @throws ArgumentError naming the entry */
export function checkCost(cost: CpuCost): void {
  checkOptions('open', 'cpu.cost', cost, names);
  const { kernels = {}, kernel, copy } = cost;
  checkObject('open', 'cpu.cost.kernels', kernels);
  if (kernel !== undefined) checkOperation('cpu.cost.kernel', kernel);
  if (copy !== undefined) checkOperation('cpu.cost.copy', copy);
  for (const [name, entry] of Object.entries(kernels)) {
    checkOperation(`cpu.cost.kernels.${name}`, entry);
  }
}

// About 11 days: enough, and exact in nanoseconds.
const mostUs = 1e12;

function checkOperation(name: string, cost: OperationCost): void {
  checkOptions('open', name, cost, operationNames);
  const { us = 0, bytesPerUs } = cost;
  if (!(typeof us === 'number' && us >= 0 && us <= mostUs)) {
    throw wrongKind('open', `${name}.us`, us, `microseconds from 0 to ${mostUs}`);
  }
  if (bytesPerUs === undefined) return;
  if (!(typeof bytesPerUs === 'number' && bytesPerUs > 0 && Number.isFinite(bytesPerUs))) {
    throw wrongKind('open', `${name}.bytesPerUs`, bytesPerUs, 'a positive number');
  }
}
