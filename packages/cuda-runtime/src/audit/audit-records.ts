import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { describeHeld } from '../native/record.js';
import type { LiveRecord, RecordHolder } from './live-record.js';

/** As the addon tells them: handles of this thread with their number. */
type NativeHolder = RecordHolder & { readonly handle?: Handle };

interface NativeLiveRecord extends Omit<LiveRecord, 'holders'> {
  readonly holders: readonly NativeHolder[];
}

/** The records of a runtime, with what this thread knows of its own handles. */
export function auditRecords(runtime: Handle): readonly LiveRecord[] {
  const text = guarded(() => environment().binding.audit(runtime));
  const records: readonly NativeLiveRecord[] = JSON.parse(text);
  const known = describeHeld();
  const holderOf = ({ handle, ...holder }: NativeHolder): RecordHolder => {
    if (holder.by !== 'handle' || handle === undefined) return holder;
    const object = known.get(handle);
    return object === undefined ? holder : { ...holder, object };
  };
  return records.map((record) => ({ ...record, holders: record.holders.map(holderOf) }));
}
