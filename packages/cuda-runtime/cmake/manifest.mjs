// Reads the parameter headers of a kernel package and writes what both sides of the language
// border need: manifest.json for TypeScript, static_asserts and `<kernel>_params_bytes` symbols
// for the artefacts, prototypes with default visibility for the CPU entries.
//
//   node manifest.mjs --package NAME --headers DIR --generated DIR --manifest FILE --cpu LIBRARY
//     [--fatbin FILE=SOURCE]...
//
// The header convention (one struct a header, one field a line):
//
//   /* kernel rms_norm_bf16 RmsNormParams block=256 min_sm=8.0 pdl=waits,triggers cpu=rms_norm */
//   typedef struct RmsNormParams {
//     const void* x;  /* r bf16|f32 [tokens, hidden] why */
//     int32_t tokens; /* rows */
//   } RmsNormParams;
//
// A host function, which runs in stream order on the callback thread, has instead
// `/* host name NameParams */`; its pointers are host memory.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { entriesHeader, layoutCheckCpp, layoutCheckCuda } from './manifest-sources.mjs';

const abi = 2;
const scalars = {
  int32_t: { type: 'i32', size: 4 },
  uint32_t: { type: 'u32', size: 4 },
  int64_t: { type: 'i64', size: 8 },
  uint64_t: { type: 'u64', size: 8 },
  float: { type: 'f32', size: 4 },
  double: { type: 'f64', size: 8 },
  bool: { type: 'bool', size: 1 },
};
const dtypes = ['f32', 'bf16', 'f16', 'e4m3', 'e8m0', 'i32', 'i64', 'u8'];
const kernelPattern = /^\s*\/\*\s*(kernel|host)\b(.*?)(\*\/)?\s*$/;

class ConventionError extends Error {
  constructor(file, line, text) {
    super(`${file}:${line}: error: ${text}`);
  }
}

function main() {
  const options = readOptions(process.argv.slice(2));
  try {
    const kernels = readdirSync(options.headers)
      .filter((name) => name.endsWith('.h'))
      .sort()
      .flatMap((name) => readHeader(join(options.headers, name)));
    checkNames(kernels);
    emit(options, kernels);
  } catch (error) {
    if (!(error instanceof ConventionError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function readOptions(args) {
  const options = { fatbins: [] };
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i].replace(/^--/, '');
    if (name === 'fatbin') {
      const [file, source] = args[i + 1].split('=');
      options.fatbins.push({ file, source, text: readFileSync(source, 'utf8') });
    } else {
      options[name] = args[i + 1];
    }
  }
  return options;
}

/**
 * All kernels of one header; a header without kernel lines and without a `…Params` struct is a
 * helper.
 */
function readHeader(file) {
  const lines = readFileSync(file, 'utf8').split(/\r?\n/);
  const entries = lines.flatMap((text, index) => readKernelLine(file, text, index + 1));
  const starts = lines.flatMap((text, index) => {
    const match = /^\s*typedef\s+struct\s+(\w*Params)\b/.exec(text);
    return match ? [{ name: match[1], index }] : [];
  });
  if (entries.length === 0 && starts.length === 0) return [];
  if (starts.length === 0) {
    throw new ConventionError(
      file,
      entries[0].line,
      `no \`typedef struct ${entries[0].struct} {\``,
    );
  }
  if (starts.length > 1) {
    throw new ConventionError(file, starts[1].index + 1, 'second parameter struct; one a header');
  }
  if (entries.length === 0) {
    throw new ConventionError(
      file,
      starts[0].index + 1,
      `no line \`/* kernel <name> ${starts[0].name} block=N */\` for this struct`,
    );
  }
  const layout = readStruct(file, lines, starts[0]);
  return entries.map(({ line, ...entry }) => {
    if (entry.struct !== starts[0].name) {
      throw new ConventionError(
        file,
        line,
        `kernel ${entry.name} names struct ${entry.struct}, the header defines ${starts[0].name}`,
      );
    }
    return { ...entry, ...layout, header: basename(file), file, line };
  });
}

function readKernelLine(file, text, line) {
  const match = kernelPattern.exec(text);
  if (!match) return [];
  const [, kind, words, end] = match;
  if (!end) throw new ConventionError(file, line, 'a kernel line ends with */ on the same line');
  const [name, struct, ...options] = words.trim().split(/\s+/);
  if (!/^[a-z][a-z0-9_]*$/.test(name ?? '') || !/^[A-Z]\w*Params$/.test(struct ?? '')) {
    throw new ConventionError(
      file,
      line,
      `expected \`/* kernel <snake_name> <Struct>Params [block=N] [min_sm=8.0] [pdl=waits,triggers] [cpu=<entry>] */\`, got \`${text.trim()}\``,
    );
  }
  const entry = {
    line,
    isHost: kind === 'host',
    name,
    struct,
    block: [1024, 1, 1],
    minSm: '8.0',
    pdl: { waits: false, triggers: false },
  };
  if (entry.isHost && options.length > 0) {
    throw new ConventionError(file, line, `host function ${name} takes no options`);
  }
  for (const option of options) readKernelOption(file, line, entry, option);
  return [entry];
}

function readKernelOption(file, line, entry, option) {
  const [key, value = ''] = option.split('=');
  if (key === 'block' && /^\d+(x\d+){0,2}$/.test(value)) {
    const sizes = value.split('x').map(Number);
    entry.block = [sizes[0], sizes[1] ?? 1, sizes[2] ?? 1];
  } else if (key === 'min_sm' && /^\d+\.\d$/.test(value)) {
    entry.minSm = value;
  } else if (
    key === 'pdl' &&
    value.split(',').every((word) => word === 'waits' || word === 'triggers')
  ) {
    entry.pdl = { waits: value.includes('waits'), triggers: value.includes('triggers') };
  } else if (key === 'cpu' && /^[a-z][a-z0-9_]*$/.test(value)) {
    entry.cpuEntry = value;
  } else {
    throw new ConventionError(
      file,
      line,
      `kernel ${entry.name}: unknown option \`${option}\`; known: block=N[xN[xN]] min_sm=M.N pdl=waits,triggers cpu=<entry>`,
    );
  }
}

/**
 * Fields with the offsets that C gives them: each on a multiple of its size, the sum on one of the
 * largest.
 */
function readStruct(file, lines, start) {
  const fields = [];
  let offset = 0;
  let align = 1;
  let index = start.index + 1;
  for (; index < lines.length; index += 1) {
    const text = lines[index];
    if (/^\s*}/.test(text)) break;
    if (text.trim() === '') continue;
    const line = index + 1;
    const comment = fieldComment(file, lines, index);
    const field = readField(file, line, text, comment.text);
    index = comment.last;
    if (fields.some(({ name }) => name === field.name)) {
      throw new ConventionError(file, line, `field ${field.name} appears twice`);
    }
    offset = Math.ceil(offset / field.size) * field.size;
    align = Math.max(align, field.size);
    const { size, ...rest } = field;
    fields.push({ name: rest.name, type: rest.type, offset, ...rest });
    offset += size;
  }
  if (index >= lines.length)
    throw new ConventionError(file, start.index + 1, 'struct is not closed');
  if (!new RegExp(`^\\s*}\\s*${start.name}\\s*;`).test(lines[index])) {
    throw new ConventionError(file, index + 1, `expected \`} ${start.name};\``);
  }
  if (fields.length === 0) {
    throw new ConventionError(file, start.index + 1, 'a parameter struct needs a field');
  }
  for (const field of fields) readExtent(field, fields);
  return { bytes: Math.ceil(offset / align) * align, fields };
}

/**
 * What a pointer's memory must hold at least: `{ bytes, factors }`, the product of the factors,
 * each `{ terms, divisor }`, a quotient of a sum of integers and fields without its remainder,
 * times the bytes of an element. Only for a shape of products, sums and quotients of i32 fields; a
 * name that is no such field says nothing, and nor does the quotient of a product.
 */
function readExtent(field, fields) {
  const { shape } = field;
  delete field.shape;
  if (shape === undefined) return;
  const counts = fields.filter(({ type }) => type === 'i32').map(({ name }) => name);
  const extent = { bytes: leastBytes(field.dtype), factors: [] };
  for (const dimension of shape.split(',')) {
    const [, whole, over] = /^(.*?)(?:\/\s*(\d+)\s*)?$/.exec(dimension.trim());
    const text = whole.trim().replace(/^\((.*)\)$/, '$1');
    const isSum = text.includes('+');
    if (text.includes('*') && (isSum || over !== undefined)) return;
    const divisor = Number(over ?? 1);
    if (divisor === 0) return;
    for (const factor of isSum ? [text] : text.split('*')) {
      const terms = factor.split('+').map((term) => term.trim());
      if (!terms.every((term) => /^\d+$/.test(term) || counts.includes(term))) return;
      const numbers = terms.map((term) => (/^\d+$/.test(term) ? Number(term) : term));
      extent.factors.push({ terms: numbers, divisor });
    }
  }
  field.extent = extent;
}

const sizes = { f32: 4, bf16: 2, f16: 2, e4m3: 1, e8m0: 1, i32: 4, i64: 8, u8: 1 };

function leastBytes(dtype) {
  return dtype.length === 0 ? 1 : Math.min(...dtype.map((name) => sizes[name]));
}

/** The comment that begins on a field's line; it may go on over the next lines. */
function fieldComment(file, lines, first) {
  const open = lines[first].indexOf('/*');
  if (open < 0) {
    throw new ConventionError(
      file,
      first + 1,
      `every field has a comment on its line: \`${lines[first].trim()}\``,
    );
  }
  let text = lines[first].slice(open + 2);
  let last = first;
  while (!text.includes('*/')) {
    last += 1;
    if (last >= lines.length) throw new ConventionError(file, first + 1, 'comment is not closed');
    text += ` ${lines[last].trim()}`;
  }
  return { text: text.slice(0, text.indexOf('*/')).trim(), last };
}

function readField(file, line, text, comment) {
  const declaration = text.slice(0, text.indexOf('/*')).trim();
  const match = /^(const\s+)?(\w+)\s*(\*)?\s*(?:const\s+)?(\w+)\s*;$/.exec(declaration);
  if (!match) {
    throw new ConventionError(
      file,
      line,
      `expected one field \`<type> <name>;\`, got \`${declaration}\``,
    );
  }
  const [, isConst, base, isPointer, name] = match;
  if (isPointer) return readPointer(file, line, { name, isConst: Boolean(isConst), comment });
  const scalar = scalars[base];
  if (!scalar) {
    throw new ConventionError(
      file,
      line,
      `field ${name}: type \`${base}\` is not one of pointer, ${Object.keys(scalars).join(', ')}`,
    );
  }
  if (comment === '') throw new ConventionError(file, line, `field ${name}: the comment is empty`);
  return { name, ...scalar };
}

function readPointer(file, line, { name, isConst, comment }) {
  const match = /^(r|w|rw)(\?)?\s+(\S+)/.exec(comment);
  const list = match ? match[3].split('|') : [];
  const known = list.length > 0 && list.every((dtype) => dtypes.includes(dtype));
  if (!match || !(known || match[3] === 'any')) {
    throw new ConventionError(
      file,
      line,
      `pointer ${name}: the comment begins with \`r|w|rw[?] <dtype>[|<dtype>…] [shape]\`, dtypes ${dtypes.join(' ')} or any; got \`${comment}\``,
    );
  }
  if (isConst !== (match[1] === 'r')) {
    throw new ConventionError(
      file,
      line,
      `pointer ${name}: access ${match[1]} ${isConst ? 'with' : 'without'} const`,
    );
  }
  const shape = /^\S+\s+\S+\s+\[([^\]]*)\]/.exec(comment)?.[1];
  const dtype = known ? list : [];
  const field = { name, type: 'buf', size: 8, access: match[1], dtype, shape };
  return match[2] ? { ...field, optional: true } : field;
}

function checkNames(kernels) {
  const seen = new Map();
  for (const kernel of kernels) {
    const other = seen.get(kernel.name);
    if (other) {
      throw new ConventionError(
        kernel.file,
        kernel.line,
        `kernel ${kernel.name} is also in ${other.file}:${other.line}`,
      );
    }
    seen.set(kernel.name, kernel);
  }
}

function emit(options, kernels) {
  const manifest = {
    abi,
    package: options.package,
    cpu: options.cpu,
    fatbins: options.fatbins.map(({ file }) => file),
    kernels: kernels
      .filter(({ isHost }) => !isHost)
      .map((kernel) => manifestKernel(options, kernel)),
    hosts: kernels
      .filter(({ isHost }) => isHost)
      .map(({ name, struct, bytes, fields }) => ({ name, struct, bytes, fields })),
  };
  writeIfChanged(options.manifest, `${JSON.stringify(manifest, null, 1)}\n`);
  const file = (name) => join(options.generated, name);
  writeIfChanged(file('entries.h'), entriesHeader(kernels));
  writeIfChanged(file('layout_check.cpp'), layoutCheckCpp(options.package, kernels));
  for (const { file: fatbin } of options.fatbins) {
    const own = kernels.filter((kernel) => !kernel.isHost && fatbinOf(options, kernel) === fatbin);
    writeIfChanged(
      file(fatbin.replace(/\.fatbin$/, '.layout.cuh')),
      layoutCheckCuda(options.package, own),
    );
  }
}

function manifestKernel(
  options,
  { name, struct, bytes, fields, block, minSm, pdl, cpuEntry, header, file, line },
) {
  const fatbin = fatbinOf(options, { name, header });
  checkBounds(options, { name, block, file, line });
  return {
    name,
    struct,
    bytes,
    fields,
    block,
    minSm,
    pdl,
    ...(cpuEntry ? { cpuEntry } : {}),
    ...(fatbin ? { fatbin } : {}),
  };
}

/**
 * A thread block that the manifest allows must be one that the kernel was compiled for. Bounds that
 * are not written as a number are left to the load, which asks the driver.
 */
function checkBounds({ fatbins }, { name, block, file, line }) {
  const bounds = new RegExp(`__launch_bounds__\\((\\d+)[^)]*\\)\\s+${name}\\s*\\(`);
  const threads = block.reduce((product, size) => product * size, 1);
  for (const { source, text } of fatbins) {
    const [, compiled] = bounds.exec(text) ?? [];
    if (compiled === undefined || threads <= Number(compiled)) continue;
    throw new ConventionError(
      file,
      line,
      `kernel ${name}: blocks of ${threads} threads are allowed, ${basename(source)} has __launch_bounds__(${compiled}); make them agree`,
    );
  }
}

/**
 * The fatbin that holds a kernel: the source that spells its name before `(`, else the one of the
 * header's stem.
 */
function fatbinOf({ fatbins }, { name, header }) {
  const spelled = fatbins.find(({ text }) => new RegExp(`\\b${name}\\s*\\(`).test(text));
  const stem = header.replace(/\.h$/, '.cu');
  return (spelled ?? fatbins.find(({ source }) => basename(source) === stem))?.file;
}

/** Leaves the time stamp of an unchanged file, so that only what changed is compiled again. */
function writeIfChanged(file, content) {
  let old;
  try {
    old = readFileSync(file, 'utf8');
  } catch {
    mkdirSync(dirname(file), { recursive: true });
  }
  if (old !== content) writeFileSync(file, content);
}

main();
