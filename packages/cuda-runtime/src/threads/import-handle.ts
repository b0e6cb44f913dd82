import { checkText, wrongKind } from '../arguments/faults.js';
import type { Runtime } from '../contract.js';
import { NativeDevice } from '../device.js';
import { NativeGraphExec } from '../graph/exec/graph-exec.js';
import { HeldObjects } from '../graph/held-objects.js';
import { NativeBuffer, nameOf } from '../memory/buffer.js';
import { SharedMemory } from '../memory/shared-memory.js';
import type { NativeImport } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { Event } from '../stream/event.js';
import { type ExportableKind, type ExportableObjects, exportableKinds } from './exportable.js';
import { openRuntimes } from './open-runtimes.js';
import { splitToken } from './part-token.js';

type Exportable = ExportableObjects[ExportableKind];

/**
 * The wrapper of this thread for an object that another one exported with `exportHandle`. It has a
 * reference of its own: dispose it like any other. This thread must have opened the same runtime,
 * that is, the same backend with the same options.
 *
 * @param kind what is expected; left out, the token decides
 * @throws DisposedError for a token that was used before or whose thread has ended; ArgumentError
 *   for another kind, BackendMismatchError when the runtime is not open here: then the token is
 *   still good
 */
export function importHandle<K extends ExportableKind>(
  token: string,
  kind: K,
): ExportableObjects[K];
/** The same for any kind. */
export function importHandle(token: string): Exportable;
/** Both of the above. */
export function importHandle(token: string, kind?: ExportableKind): Exportable {
  const api = 'importHandle';
  checkText(api, 'token', token);
  const isKnown = typeof kind === 'string' && Object.hasOwn(exportableKinds, kind);
  if (kind !== undefined && !isKnown) {
    throw wrongKind(api, 'kind', kind, Object.keys(exportableKinds).join(', '));
  }
  const { native: whole, part } = splitToken(token);
  const runtimes = openRuntimes();
  const native = guarded(() =>
    environment().binding.importHandle(
      whole,
      kind === undefined ? 0 : exportableKinds[kind],
      runtimes.map((runtime) => runtime.use(api)),
    ),
  );
  const runtime = runtimes[native.runtime];
  const device = runtime?.device();
  if (!runtime || !(device instanceof NativeDevice)) {
    throw wrongKind(api, 'token', token, 'a token of a runtime of this thread');
  }
  const object = wrap(native, runtime, device);
  if (!part) return object;
  try {
    if (object instanceof NativeBuffer) return object.become(part.byteOffset, part.bytes);
    throw wrongKind(api, 'token', token, 'a token of `exportHandle`');
  } catch (error) {
    object.dispose();
    throw error;
  }
}

function wrap(native: NativeImport, runtime: Runtime, device: NativeDevice): Exportable {
  const { handle, kind, name } = native;
  if (kind === exportableKinds.buffer) {
    const { bytes, isLent } = native;
    const memory = new SharedMemory(handle, nameOf(name, bytes), isLent ? 'graph' : 'user');
    return new NativeBuffer(device, memory, bytes, name);
  }
  if (kind === exportableKinds.stream) return device.adoptStream(handle, name);
  if (kind === exportableKinds.event) return new Event(runtime, handle, native.timing);
  // The setters need nodes of its graph, which stays with the thread that built it.
  return new NativeGraphExec(handle, { owner: {}, device }, new HeldObjects());
}
