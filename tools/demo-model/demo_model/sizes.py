"""Every number of a run in one place: the model's shape, the data and the training schedule."""

from dataclasses import dataclass, field, replace

VOCAB_CONTROL_IDS = 64  # ids at the end of the vocabulary, as in MiniMax-M3 (200000 to 200063)


@dataclass(frozen=True)
class ModelSize:
    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    dense_intermediate: int
    expert_intermediate: int
    experts: int
    experts_per_token: int
    block_tokens: int
    topk_blocks: int
    max_positions: int
    dense_layers: int = 1  # leading layers with a dense MLP and full attention
    rope_theta: float = 5_000_000.0

    @property
    def dense_reach(self) -> int:
        """Contexts up to this length are attended to as a whole."""
        return self.topk_blocks * self.block_tokens


@dataclass(frozen=True)
class Schedule:
    seconds: float  # of training; with `steps` given, steps decide instead
    steps: int  # 0: time decides
    batch_tokens: int
    long_batch_tokens: int
    learning_rate: float
    warmup_steps: int
    decay_from: float = 0.70  # share of the run after which the rate falls to zero
    long_from: float = 0.20  # long rows, with dense attention, and distillation of the indexer
    sparse_from: float = 0.45  # long rows attend to the blocks that the indexer chooses
    quantized_from: float = 0.85  # weights pass through MXFP8 in the forward pass
    long_share: float = 0.30  # of the tokens, once long rows are in
    prompt_weight: float = 0.1  # of prompt tokens, in rows where they count
    distill_queries: int = 256  # queries a long row whose block choice is taught
    bias_step: float = 1e-3  # of the router's correction bias, per optimizer step


@dataclass(frozen=True)
class DataSize:
    corpus_documents: int  # for training the tokenizer
    shard_tokens: int
    short_shards: int
    long_shards: int
    long_tokens: tuple[int, int]  # shortest and longest long row
    heldout_documents: int  # for perplexity


@dataclass(frozen=True)
class Recipe:
    name: str
    model: ModelSize
    schedule: Schedule
    data: DataSize
    seed: int = 20261129
    suite_limit: int = 0  # prompts a skill in the evaluation; 0: all
    notes: tuple[str, ...] = field(default=())


FULL = Recipe(
    name="full",
    model=ModelSize(
        vocab=4096,
        hidden=256,
        layers=6,
        heads=8,
        kv_heads=2,
        head_dim=128,
        dense_intermediate=1024,
        expert_intermediate=128,
        experts=16,
        experts_per_token=4,
        block_tokens=128,
        topk_blocks=8,
        max_positions=8192,
    ),
    schedule=Schedule(
        seconds=400,
        steps=0,
        batch_tokens=32768,
        long_batch_tokens=36864,
        learning_rate=1.5e-3,
        warmup_steps=200,
    ),
    data=DataSize(
        corpus_documents=24000,
        shard_tokens=1_000_000,
        short_shards=320,
        long_shards=120,
        long_tokens=(1100, 8000),
        heldout_documents=256,
    ),
)

# Goes on from a shipped checkpoint (`--from`), on new data: what a first run has learnt badly.
REFINE = replace(
    FULL,
    name="refine",
    seed=20261130,
    schedule=replace(FULL.schedule, seconds=110, learning_rate=5e-4, warmup_steps=50, decay_from=0.4,
                     long_from=0.0, sparse_from=0.0, quantized_from=0.0),
    data=replace(FULL.data, short_shards=60, long_shards=24),
)

# The same code on two CPU cores in about two minutes; its model answers nothing, and need not.
SMOKE = Recipe(
    name="smoke",
    model=ModelSize(
        vocab=1024,
        hidden=128,
        layers=3,
        heads=4,
        kv_heads=2,
        head_dim=64,
        dense_intermediate=256,
        expert_intermediate=64,
        experts=16,
        experts_per_token=4,
        block_tokens=64,
        topk_blocks=8,
        max_positions=2048,
    ),
    schedule=Schedule(
        seconds=40,
        steps=0,
        batch_tokens=3072,
        long_batch_tokens=1536,
        learning_rate=3e-3,
        warmup_steps=10,
        distill_queries=32,
    ),
    data=DataSize(
        corpus_documents=1500,
        shard_tokens=60_000,
        short_shards=3,
        long_shards=2,
        long_tokens=(700, 1300),
        heldout_documents=24,
    ),
    suite_limit=2,
)

RECIPES = {recipe.name: recipe for recipe in (FULL, REFINE, SMOKE)}
