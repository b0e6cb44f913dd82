import { refusePublicRegistry } from './refuse-public-registry.js';
import { type ChildOptions, type ChildResult, runChild } from './run-child.js';

/**
 * Runs a command that can publish. The only way to run one: the guard has accepted the environment
 * that the child gets, and the child gets nothing else.
 *
 * @throws Error of `refusePublicRegistry`
 */
export async function runPublisher(
  command: string,
  args: readonly string[],
  options: ChildOptions,
): Promise<ChildResult> {
  refusePublicRegistry(options.environment);
  return runChild(command, args, options);
}
