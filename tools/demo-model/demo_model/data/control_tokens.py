"""MiniMax-M3's control tokens, at the places that they have from the end of its vocabulary."""

from demo_model.sizes import VOCAB_CONTROL_IDS, ModelSize

# Offsets of MiniMax-M3's control tokens from the first of its last 64 ids.
CONTROL_TOKENS = {
    19: "]~b]",
    20: "[e~[",
    21: "]!d~[",
    25: "]<]image[>[",
    26: "]<]video[>[",
    29: "]<]start of image[>[",
    30: "]<]end of image[>[",
    34: "]~!b[",
    58: "]<]minimax[>[",
    59: "<mm:think>",
    60: "</mm:think>",
}


def control_id(size: ModelSize, text: str) -> int:
    offset = next(key for key, value in CONTROL_TOKENS.items() if value == text)
    return size.vocab - VOCAB_CONTROL_IDS + offset
