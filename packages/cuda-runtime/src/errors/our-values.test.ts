import { expect, test } from 'vitest';
import { describeValue } from './describe-value.js';

test('objects of this package have the names that users know, also in a bundle', () => {
  const bundled = (name: string) => Object.defineProperty(class {}, 'name', { value: name });
  const TensorView = bundled('_TensorView');
  const NativeStream = bundled('NativeStream');
  const Other = bundled('_Other');
  expect(describeValue(new TensorView())).toBe('a tensor');
  expect(describeValue(new NativeStream())).toBe('a stream');
  expect(describeValue(new Other())).toBe('an object (_Other)');
});
