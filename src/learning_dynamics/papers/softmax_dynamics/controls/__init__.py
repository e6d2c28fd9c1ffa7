"""Without skew, bottleneck or softmax."""
