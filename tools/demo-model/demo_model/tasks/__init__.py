"""What the model learns to do: one module a family of skills, each a maker of examples."""
