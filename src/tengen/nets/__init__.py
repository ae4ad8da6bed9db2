"""Networks: the architectures of the papers and our own, their files, and the evaluators that searches use.

Playing with a network file needs only onnxruntime: `models` and `evaluators` import torch only when a torch evaluator
is requested. The other modules are for training and import torch directly.
"""
