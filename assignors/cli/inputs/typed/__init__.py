"""What was typed: options without effect, values that are none, input that nobody named."""
