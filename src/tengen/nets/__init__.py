"""Networks: the architectures from the papers and additional ones, their files, and evaluators for searches.

Playing with a network file needs only onnxruntime: `models` and `evaluators` import torch only when a torch evaluator
is requested. The other modules are for training and import torch directly.
"""
