"""Networks: the papers' plain and dense ones and a small residual one, their files, and how searches ask them.

Playing with a network file needs onnxruntime only: `models` and `evaluators` import torch when a torch evaluator is
asked for, and not before. `architectures`, `plain`, `dense`, `residual` and `export` are for training and import it at
once.
"""
