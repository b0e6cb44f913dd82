// Refuses weak symbols in objects compiled for one instruction set. The linker keeps one copy of a
// weak symbol for the whole library; were it the AVX-512 copy, an older CPU would meet an illegal
// instruction in baseline code.
//
//   node check-weak.mjs NM OBJECT...
import { execFileSync } from 'node:child_process';

const [nm, ...objects] = process.argv.slice(2);
const isaObject = /_(avx2|avx512|amx)\.cpp\.(o|obj)$/;
const found = objects
  .flatMap((list) => list.split(';'))
  .filter((object) => isaObject.test(object))
  .flatMap((object) =>
    execFileSync(nm, ['-C', '--defined-only', object], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => /^[0-9a-f]+ [WwVvu] /.test(line))
      .map((line) => `${object}: error: weak symbol ${line.slice(19)}`),
  );

if (found.length > 0) {
  process.stderr.write(
    `${found.join('\n')}\nUse static inline functions or an anonymous namespace, and no std templates.\n`,
  );
  process.exit(1);
}
