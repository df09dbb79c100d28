"""The engine's version: it enters run ids, so that records of another engine are never taken for present ones."""

ENGINE_VERSION = 1  # raise it when the same request would give other accuracies, times or peaks
