import { fromNative } from '../errors/from-native.js';

/** Runs a call into the addon and turns its failure into one of our classes. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}
