import { wrongKind } from '../arguments/faults.js';
import { NativeGraphExec } from '../graph/exec/graph-exec.js';
import { NativeBuffer } from '../memory/buffer.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { Event } from '../stream/event.js';
import { NativeStream } from '../stream/stream.js';
import type { ExportableKind, ExportableObjects } from './exportable.js';
import { partToken } from './part-token.js';

/**
 * Makes a token by which another thread gets a wrapper of its own for the same native object:
 * post it there, and pass it to `importHandle`. Each token is good once, and as long as this thread
 * lives; until then it keeps the object alive.
 * @throws ArgumentError for anything but a device buffer, event, stream or graph executable;
 *   DisposedError
 */
export function exportHandle(object: ExportableObjects[ExportableKind]): string {
  const api = 'exportHandle';
  const isExportable =
    object instanceof NativeBuffer ||
    object instanceof Event ||
    object instanceof NativeStream ||
    object instanceof NativeGraphExec;
  if (!isExportable) {
    throw wrongKind(api, 'object', object, 'a device buffer, event, stream or graph executable');
  }
  const token = guarded(() => environment().binding.exportHandle(object.use(api)));
  const isPart = object instanceof NativeBuffer && object.whole !== object;
  return isPart ? partToken(token, object) : token;
}
