// The trace of one decoder layer with experts, replayed: which stream ran what, when.
import { Workspace } from '@altstream/cuda-runtime';
import type { MiniMaxM3Model } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import { ModelStep } from '../../src/model-step.js';
import { decodeInputs } from './step-inputs.js';

/** A recording in two formats. */
export interface LayerTrace {
  /** For ui.perfetto.dev. */
  readonly perfetto: string;
  readonly svg: string;
}

/** Traces the first layer with experts; undefined when there is none. */
export async function traceLayer(
  model: MiniMaxM3Model,
  cache: KvCache,
  size: { readonly batch: number; readonly context: number },
): Promise<LayerTrace | undefined> {
  const { device, runtime, activations } = model;
  const [number] = model.moeBlocks.keys();
  const layer = number === undefined ? undefined : model.layers[number];
  if (!layer) return undefined;
  const stream = device.createStream({ name: 'main' });
  const workspace = new Workspace(device, { label: 'trace' });
  const inputs = decodeInputs(stream, model, size);
  const shape = [size.batch, model.config.hidden];
  const [hidden, residual] = ['hidden', 'residual'].map((label) => {
    const tensor = stream.tensor(shape, activations, label);
    stream.write(tensor, pseudoRandom(tensor.elements, activations));
    return tensor;
  });
  if (!hidden || !residual) return undefined;
  const graph = device.capture(
    () => {
      workspace.reset();
      const { launches: pdl } = model;
      const context = { stream, workspace, ...(pdl && { pdl }) };
      layer.forward(hidden, residual, new ModelStep(inputs.batch, cache, context));
    },
    { stream },
  );
  const exec = await graph.instantiate();
  for (let warmUp = 0; warmUp < 3; warmUp++) exec.launch(stream);
  await stream.synchronize();
  runtime.trace.start();
  exec.launch(stream);
  await stream.synchronize();
  const recording = runtime.trace.stop();
  for (const one of [exec, graph, hidden, residual, inputs, workspace, stream]) one.dispose();
  return { perfetto: recording.toChromeJson(), svg: recording.toSvg() };
}

/** Values in [-1, 1), so that the router has a choice. */
function pseudoRandom(elements: number, dtype: 'f32' | 'bf16'): ArrayBufferView {
  const values = Float32Array.from(
    { length: elements },
    (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 8) / 2 ** 23 - 1,
  );
  if (dtype === 'f32') return values;
  return Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);
}
