/** Whether the model thinks before it answers; `adaptive` leaves it to the model. */
export type ThinkingMode = 'enabled' | 'disabled' | 'adaptive';

/** The places where a request may say how much to think. */
export interface ThinkingRequest {
  /** `chat_template_kwargs` with `thinking_mode` or `enable_thinking`. */
  readonly kwargs?: Readonly<Record<string, unknown>>;
  /** `thinking: { type }`, as in Anthropic's API. */
  readonly thinking?: { readonly type?: unknown } | null;
  /** `reasoning_effort` or `reasoning.effort`, as in OpenAI's APIs. */
  readonly reasoningEffort?: unknown;
}

/**
 * The thinking mode of a request. `kwargs.thinking_mode` wins, then `thinking`, then
 * `kwargs.enable_thinking`, then the effort (`none` = disabled, any other = enabled).
 * @returns undefined if nothing was said: the template's default, adaptive, applies
 */
export function thinkingModeOf(request: ThinkingRequest): ThinkingMode | undefined {
  const explicit = request.kwargs?.['thinking_mode'];
  if (isMode(explicit)) return explicit;
  if (isMode(request.thinking?.type)) return request.thinking.type;
  const flag = request.kwargs?.['enable_thinking'];
  if (typeof flag === 'boolean') return flag ? 'enabled' : 'disabled';
  if (typeof request.reasoningEffort !== 'string') return undefined;
  return request.reasoningEffort === 'none' ? 'disabled' : 'enabled';
}

function isMode(value: unknown): value is ThinkingMode {
  return value === 'enabled' || value === 'disabled' || value === 'adaptive';
}
