/** What decides how the end of a choice is told. */
export interface StopShape {
  /** Tokens that end every answer, as far as the request does not name them itself. */
  readonly endIds: ReadonlySet<number>;
  /** What ended a choice is told under sglang's name, too. */
  readonly hasMatchedStop: boolean;
}

type Stop = string | number | null;

/** How the end of a request's choices is told. */
export function stopShapeOf(
  { stop_token_ids: own }: { readonly stop_token_ids?: readonly number[] | null | undefined },
  defaults: { readonly eosTokenIds: readonly number[] },
  { sglangCompat }: { readonly sglangCompat: boolean },
): StopShape {
  const endIds = new Set(defaults.eosTokenIds);
  for (const id of own ?? []) endIds.delete(id);
  return { endIds, hasMatchedStop: sglangCompat };
}

/** vLLM's `stop_reason`: null where the model ended of its own accord. */
export function stopReason(stop: Stop, { endIds }: StopShape): Stop {
  return typeof stop === 'number' && endIds.has(stop) ? null : stop;
}
