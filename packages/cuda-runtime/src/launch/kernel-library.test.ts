import { describe, expect, it, vi } from 'vitest';
import type { Runtime, Stream } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { KernelLibrary } from './kernel-library.js';

const makeLibrary = () =>
  new KernelLibrary({
    package: '@example/kernels',
    from: 'file:///example/index.js',
    notLoaded: (kernel) => new Error(`${kernel}: await loadExampleKernels(runtime) first`),
  });

function makeRuntime(loadModule = async () => ({ kernel: (name: string) => ({ name }) })) {
  const spied = vi.fn(loadModule);
  const runtime = { loadModule: spied } as unknown as Runtime;
  return { runtime, stream: { runtime } as Stream, loadModule: spied };
}

describe('KernelLibrary', () => {
  it('loads once per runtime, also while the first load runs', async () => {
    const library = makeLibrary();
    const [one, other] = [makeRuntime(), makeRuntime()];
    await Promise.all([library.load(one.runtime), library.load(one.runtime)]);
    await library.load(one.runtime);
    expect(one.loadModule).toHaveBeenCalledOnce();
    expect(one.loadModule).toHaveBeenCalledWith({
      package: '@example/kernels',
      from: 'file:///example/index.js',
    });
    expect(other.loadModule).not.toHaveBeenCalled();
    expect(library.kernel(one.stream, 'add').name).toBe('add');
  });

  it("throws the package's own error until the load of that runtime has finished", async () => {
    const library = makeLibrary();
    const [one, other] = [makeRuntime(), makeRuntime()];
    const load = library.load(one.runtime);
    const early = 'add: await loadExampleKernels(runtime) first';
    expect(() => library.kernel(one.stream, 'add')).toThrow(early);
    await load;
    library.kernel(one.stream, 'add');
    expect(() => library.kernel(other.stream, 'add')).toThrow(early);
  });

  it('forgets a failed load, so that the next call tries anew', async () => {
    const library = makeLibrary();
    const { runtime, stream, loadModule } = makeRuntime();
    loadModule.mockRejectedValueOnce(new Error('no artefact'));
    await expect(library.load(runtime)).rejects.toThrow('no artefact');
    expect(() => library.kernel(stream, 'add')).toThrow('await loadExampleKernels');
    await library.load(runtime);
    expect(library.kernel(stream, 'add').name).toBe('add');
  });

  it.each([undefined, null, {}, 5])(
    'refuses %o as a runtime once, and leaves nothing',
    async (value) => {
      const rejections: unknown[] = [];
      const note = (reason: unknown) => rejections.push(reason);
      process.on('unhandledRejection', note);
      await expect(makeLibrary().load(value as never)).rejects.toThrow(
        /kernelLibrary\.load: `runtime` is .*expected a runtime/,
      );
      await new Promise((resolve) => setTimeout(resolve, 5));
      process.off('unhandledRejection', note);
      expect(rejections).toEqual([]);
      expect(() => makeLibrary().kernel(value as never, 'add')).toThrow(ArgumentError);
    },
  );
});
