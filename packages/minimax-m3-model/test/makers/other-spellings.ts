/** The tensors of a checkpoint under the names and in the packing of other writers. */

import type { StoredTensor } from '@altstream/hash-checkpoint';

/** Drops `language_model.`, as text-only exports do. */
export function withoutPrefix(tensors: readonly StoredTensor[]): StoredTensor[] {
  return tensors.map((tensor) => ({
    ...tensor,
    name: tensor.name.replace(/^language_model\./, ''),
  }));
}

/** The names of transformers 5, with packed experts and packed gate and up rows. */
export function transformersNames(tensors: readonly StoredTensor[]): StoredTensor[] {
  const renamed = tensors.map((tensor) => ({
    ...tensor,
    name: tensor.name
      .replace(/^language_model\.model\./, 'model.language_model.')
      .replace(/^language_model\.lm_head/, 'lm_head')
      .replace('.block_sparse_moe.e_score', '.mlp.gate.e_score')
      .replace('.block_sparse_moe.', '.mlp.')
      .replace(/\.index_([qk]_(proj|norm))\./, '.indexer.$1.'),
  }));
  const byName = new Map(renamed.map((tensor) => [tensor.name, tensor]));
  const result: StoredTensor[] = [];
  for (const { name } of renamed) {
    const expert = name.match(/^(.*\.experts\.)(\d+)\.(w1|w2|w3)\.weight(.*)$/);
    if (expert) {
      const [, prefix = '', index, part, suffix = ''] = expert;
      if (index !== '0' || part === 'w3') continue;
      const packed = part === 'w2' ? ['w2'] : ['w1', 'w3'];
      const all = expertsOf(byName, prefix).flatMap((e) =>
        packed.map((p) => byName.get(`${prefix}${e}.${p}.weight${suffix}`) as StoredTensor),
      );
      const target = part === 'w2' ? 'down_proj' : 'gate_up_proj';
      result.push(stack(`${prefix}${target}${suffix}`, all, expertsOf(byName, prefix).length));
      continue;
    }
    const gate = name.match(/^(.*\.)gate_proj(\.weight.*)$/);
    if (gate) {
      const [, prefix = '', suffix = ''] = gate;
      const up = byName.get(`${prefix}up_proj${suffix}`) as StoredTensor;
      const both = [byName.get(name) as StoredTensor, up];
      result.push(stack(`${prefix}gate_up_proj${suffix}`, both, undefined));
    } else if (!/\.up_proj\.weight/.test(name)) result.push(byName.get(name) as StoredTensor);
  }
  return result;
}

function expertsOf(byName: ReadonlyMap<string, StoredTensor>, prefix: string): number[] {
  const experts: number[] = [];
  while (byName.has(`${prefix}${experts.length}.w1.weight`)) experts.push(experts.length);
  return experts;
}

function stack(
  name: string,
  tensors: readonly StoredTensor[],
  leading: number | undefined,
): StoredTensor {
  const [{ dtype, shape }] = tensors as [StoredTensor];
  const [rows = 0, columns = 0] = shape;
  const total = tensors.length * rows;
  const bytes = Buffer.concat(tensors.map((tensor) => tensor.bytes));
  const stacked = leading ? [leading, total / leading, columns] : [total, columns];
  return { name, dtype, shape: stacked, bytes };
}
