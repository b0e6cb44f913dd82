import { fromNative } from '../errors/from-native.js';

/** Runs a call into the addon and turns its failure into one of our classes. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}

/** The same for a call that serves several of ours: `api` is the one to name. */
export function guardedAs<T>(api: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error, api);
  }
}
