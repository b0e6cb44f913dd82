"""The network over transformers' parameters, MXFP8, the checkpoint, decoding."""
