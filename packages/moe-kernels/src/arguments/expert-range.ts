import { ArgumentRangeError } from '../errors/index.js';
import { checkInteger } from './checks.js';

/** Which experts are local. */
export interface ExpertRange {
  /** Experts in all, over all ranks. */
  readonly numExperts: number;
  /** Global id of local expert 0, default 0. */
  readonly localExpertOffset?: number;
  /** Experts held here, default all from the offset on. */
  readonly localNumExperts?: number;
}

/** As many as top-k can name: 4096 routed and one shared. */
const maxLocalExperts = 4097;

/** Checks a range and fills in its defaults. @throws ArgumentRangeError */
export function resolveExpertRange(
  { numExperts, localExpertOffset: offset = 0, localNumExperts }: ExpertRange,
  caller: string,
): { readonly offset: number; readonly local: number } {
  checkInteger(caller, 'numExperts', numExperts, { min: 1, max: maxLocalExperts });
  checkInteger(caller, 'localExpertOffset', offset, { min: 0, max: numExperts - 1 });
  const local = localNumExperts ?? numExperts - offset;
  checkInteger(caller, 'localNumExperts', local, { min: 1, max: numExperts });
  if (offset + local > numExperts) {
    throw new ArgumentRangeError(
      caller,
      `localExpertOffset (${offset}) + localNumExperts (${local}) exceeds numExperts (${numExperts})`,
    );
  }
  return { offset, local };
}
