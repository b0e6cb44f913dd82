import { ServerError } from './server-error.js';

/** Exit codes of the command line; scripts and supervisors rely on them. */
export const exitCodes = {
  usage: 2,
  model: 3,
  device: 4,
  memory: 5,
  port: 6,
  engine: 70,
} as const;

/** Ends the command with a sentence for the person and a documented exit code. */
export class ExitError extends ServerError {
  readonly exitCode: number;

  constructor(kind: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(`SERVER_${kind.toUpperCase()}`, message, options);
    this.exitCode = exitCodes[kind];
  }
}
