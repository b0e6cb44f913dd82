import { buildByteTokenizer, ChatTokenizer, type OutputDelta } from '@altstream/minimax-m3-chat';
import { describe, expect, it, vi } from 'vitest';
import { ContentRecorder, type RequestContent } from './request-content.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
const idsOf = (text: string): number[] => tokenizer.encode(text);
const recorderOf = (...prompts: string[]): ContentRecorder =>
  new ContentRecorder(prompts.map(idsOf), tokenizer);
const say = (recorder: ContentRecorder, index: number, ...deltas: OutputDelta[]): void =>
  recorder.add({ index, deltas, tokens: [] });
const content = (text: string): OutputDelta => ({ type: 'content-delta', text });

/** Characters of all that is kept, as JSON has them. */
const sizeOf = ({ prompts, answers }: RequestContent): number =>
  JSON.stringify([prompts, answers]).length;

describe('the texts of a request', () => {
  it('are whole if they are not long', () => {
    const recorder = recorderOf('Grüße 🌊', 'b');
    say(recorder, 1, { type: 'reasoning-delta', text: 'Why' }, content('Be'), content('cause'));
    say(recorder, 0, { type: 'tool-call-start', index: 0, id: 'x', name: 'f' });
    say(recorder, 0, { type: 'tool-call-start', index: 1, id: 'y', name: 'g' });
    say(recorder, 0, { type: 'tool-call-delta', index: 0, text: '{"a":' });
    say(recorder, 0, { type: 'tool-call-delta', index: 1, text: '{}' });
    say(recorder, 0, { type: 'tool-call-delta', index: 0, text: '1}' });
    const calls = [
      { name: 'f', arguments: '{"a":1}' },
      { name: 'g', arguments: '{}' },
    ];
    expect(recorder.content()).toEqual({
      prompts: ['Grüße 🌊', 'b'],
      answers: [
        { reasoning: '', content: '', calls },
        { reasoning: 'Why', content: 'Because', calls: [] },
      ],
      isCut: false,
    });
  });

  it('are told of a prompt once, though several choices have it', () => {
    const prompt = idsOf('a');
    const recorder = new ContentRecorder([prompt, prompt], tokenizer);
    expect(recorder.content()).toMatchObject({ prompts: ['a'], answers: [{}, {}] });
  });

  it('have 65,536 characters each at most', () => {
    const recorder = recorderOf('x'.repeat(65_537));
    for (let piece = 0; piece < 70; piece += 1) say(recorder, 0, content('y'.repeat(1000)));
    const { prompts, answers, isCut } = recorder.content();
    expect([prompts[0]?.length, answers[0]?.content.length, isCut]).toEqual([65_536, 65_536, true]);
    const fits = recorderOf('x'.repeat(65_536));
    say(fits, 0, content('y'.repeat(65_536)));
    expect(fits.content().isCut).toBe(false);
  });

  it('have 262,144 together, half of which answers leave to prompts', () => {
    const many = Array.from({ length: 128 }, () => 'x'.repeat(10_000));
    const silent = recorderOf(...many).content();
    expect(silent.isCut).toBe(true);
    expect(sizeOf(silent)).toBeGreaterThan(200_000);
    expect(sizeOf(silent)).toBeLessThan(262_144);
    const recorder = recorderOf(...many);
    for (let index = 0; index < 128; index += 1) say(recorder, index, content('y'.repeat(60_000)));
    const { prompts, answers } = recorder.content();
    const length = (texts: readonly string[]): number => texts.join('').length;
    expect(length(answers.map((answer) => answer.content))).toBe(131_072 - 128 * 64);
    expect(length(prompts)).toBeGreaterThan(131_072 - 64 * 15);
    expect(length(prompts)).toBeLessThanOrEqual(131_072);
  });

  it('count calls and choices, too, however many there are', () => {
    const prompt = idsOf('a');
    const choices = new ContentRecorder(
      Array.from({ length: 100_000 }, () => prompt),
      tokenizer,
    ).content();
    expect([choices.answers.length, choices.isCut]).toEqual([2048, true]);
    const recorder = recorderOf('a');
    for (let index = 0; index < 100_000; index += 1) {
      say(recorder, 0, { type: 'tool-call-start', index, id: '', name: '' });
      say(recorder, 0, { type: 'tool-call-delta', index, text: `${index}` });
    }
    const told = recorder.content();
    const calls = told.answers[0]?.calls ?? [];
    expect(calls.map((call) => call.arguments)).toEqual(calls.map((_, index) => `${index}`));
    expect(calls.length).toBeGreaterThan(1500);
    expect(sizeOf(told)).toBeLessThan(131_072);
    expect(told.isCut).toBe(true);
  });

  it('are made of tokens when they are asked for, once, and of no more than are shown', () => {
    const reading = vi.spyOn(tokenizer.bytes, 'wholeTextOf');
    const recorder = new ContentRecorder([new Array(300_000).fill(idsOf('x')[0])], tokenizer);
    expect(reading).not.toHaveBeenCalled();
    const first = recorder.content();
    expect(reading.mock.calls.length).toBeLessThanOrEqual(65_537);
    reading.mockClear();
    expect(recorder.content()).toBe(first);
    expect(reading).not.toHaveBeenCalled();
    reading.mockRestore();
  });
});
