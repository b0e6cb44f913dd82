import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors/index.js';
import type { ChoiceStep } from './choice.js';
import { StepStream } from './step-stream.js';

const step = (index: number, error?: ApiError): ChoiceStep => ({
  ...{ index, deltas: [], tokens: [] },
  ...(error ? { error } : {}),
});
const planted = new ApiError({ status: 500, code: 'internal_error', message: 'planted' });

describe('a stream of steps', () => {
  const make = () => {
    const counts = { givenUp: 0 };
    const steps = new StepStream(() => {
      counts.givenUp += 1;
    });
    const read: number[] = [];
    return { steps, counts, read, take: ({ index }: ChoiceStep) => read.push(index) };
  };

  it('hands over what came before, then each step at the moment it comes', async () => {
    const { steps, read, take, counts } = make();
    steps.push(step(1));
    const reading = steps.read(take);
    expect(read).toEqual([1]);
    steps.push(step(2));
    expect(read).toEqual([1, 2]);
    steps.end();
    steps.push(step(3));
    await reading;
    expect([read, counts.givenUp]).toEqual([[1, 2], 0]);
  });

  it('fails with the first error of a choice, after the steps before it', async () => {
    const { steps, read, take, counts } = make();
    for (const one of [step(1), step(2, planted), step(3)]) steps.push(one);
    await steps.begun(0);
    await expect(steps.read(take)).rejects.toBe(planted);
    expect([read, counts.givenUp]).toEqual([[1], 1]);
  });

  it('fails with what its reader throws, and the pusher is none the wiser', async () => {
    const { steps, counts } = make();
    const reading = steps.read(() => {
      throw planted;
    });
    expect(() => steps.push(step(1))).not.toThrow();
    await expect(reading).rejects.toBe(planted);
    expect(counts.givenUp).toBe(1);
  });

  it('has begun with its first step, its end, or when the time is over', async () => {
    const first = make();
    const begun = first.steps.begun(0);
    first.steps.push(step(1));
    await begun;
    const ended = make();
    setTimeout(() => ended.steps.end(), 1);
    await ended.steps.begun(0);
    await make().steps.begun(5);
  });

  it('fails before it begins if its first step is an error', async () => {
    const { steps, counts } = make();
    steps.push(step(1, planted));
    await expect(steps.begun(0)).rejects.toBe(planted);
    expect(counts.givenUp).toBe(1);
  });
});
