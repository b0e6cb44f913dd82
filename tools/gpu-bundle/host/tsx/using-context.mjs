/**
 * What a compiled `using` calls, since Node 20 cannot read the keyword: `u` and `a` (for
 * `await using`) register a value, `e` is set to the block's error, `d` disposes in the reverse
 * order.
 */
export default function usingContext() {
  const none = Symbol('no error');
  const registered = [];
  const context = {
    e: none,
    u: (value) => register(value, false),
    a: (value) => register(value, true),
    d: () => (registered.some(({ isAwaited }) => isAwaited) ? disposeAwaited() : disposeAll()),
  };
  return context;

  function register(value, isAwaited) {
    if (value === null || value === undefined) {
      if (isAwaited) registered.push({ isAwaited, dispose: () => undefined });
      return value;
    }
    const method = (isAwaited && value[Symbol.asyncDispose]) || value[Symbol.dispose];
    if (typeof method !== 'function') throw new TypeError('using: the value has no dispose method');
    registered.push({ isAwaited, dispose: () => method.call(value) });
    return value;
  }

  function note(error) {
    if (context.e === none) context.e = error;
    else context.e = Object.assign(new Error('dispose failed'), { error, suppressed: context.e });
  }

  function disposeAll() {
    for (const { dispose } of registered.reverse()) {
      try {
        dispose();
      } catch (error) {
        note(error);
      }
    }
    if (context.e !== none) throw context.e;
  }

  async function disposeAwaited() {
    for (const { dispose, isAwaited } of registered.reverse()) {
      try {
        const pending = dispose();
        if (isAwaited) await pending;
      } catch (error) {
        note(error);
      }
    }
    if (context.e !== none) throw context.e;
  }
}
