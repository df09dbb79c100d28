"""Logits and labels to metrics, in float64 on the CPU; scikit-learn's definitions, checked against it in the tests.

Written out here because the engine needs no scikit-learn: on a machine with CUDA, torch, torch-geometric, numba, scipy
and pydantic suffice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from harness.records.record import ClassScores, Scores


def scores(logits: np.ndarray, labels: np.ndarray) -> Scores:
    """One split's accuracy, macro-F1, ROC-AUC and loss.

    Args:
        logits: ``[n, classes]``, n >= 1.
        labels: class of each row, int, ``[n]``.
    """
    predicted = logits.argmax(axis=1)
    log_p = log_softmax(logits)
    return Scores(
        accuracy=float((predicted == labels).mean()),
        macro_f1=macro_f1(confusion(labels, predicted, logits.shape[1])),
        roc_auc=roc_auc(log_p, labels),
        loss=float(-log_p[np.arange(len(labels)), labels].mean()),
    )


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise log of the softmax, float64, ``[n, classes]``."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Counts, int64, ``[classes, classes]``: row the label, column the prediction."""
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def precision_recall_f1(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per class, float64, ``[classes]`` each; 0 where nothing was predicted, or nothing was there.

    Args:
        counts: confusion matrix, label by prediction.
    """
    hit = np.diag(counts).astype(np.float64)
    support, predicted = counts.sum(axis=1), counts.sum(axis=0)
    return (
        hit / np.maximum(predicted, 1),
        hit / np.maximum(support, 1),
        2.0 * hit / np.maximum(support + predicted, 1),
    )


def macro_f1(counts: np.ndarray) -> float:
    """Mean F1 over the classes that occur as a label or as a prediction."""
    occurs = (counts.sum(axis=0) + counts.sum(axis=1)) > 0
    return float(precision_recall_f1(counts)[2][occurs].mean())


def per_class(logits: np.ndarray, labels: np.ndarray, names: Sequence[str]) -> list[ClassScores]:
    """Precision, recall and F1 of every class, also of those without a node in the split (support 0)."""
    counts = confusion(labels, logits.argmax(axis=1), logits.shape[1])
    precision, recall, f1 = precision_recall_f1(counts)
    return [
        ClassScores(
            label=c,
            name=names[c] if c < len(names) else str(c),
            support=int(counts[c].sum()),
            precision=float(precision[c]),
            recall=float(recall[c]),
            f1=float(f1[c]),
        )
        for c in range(logits.shape[1])
    ]


def roc_auc(log_probability: np.ndarray, labels: np.ndarray) -> float | None:
    """Area under the ROC curve; None where a class has no node in the split.

    Two classes: class 1 is the positive one. More: the mean over classes of one against the rest. Log-probabilities
    rank as probabilities do, but do not all become 1 where the model is sure.

    Args:
        log_probability: ``[n, classes]``.
        labels: ``[n]``.
    """
    classes = log_probability.shape[1]
    if classes < 2 or len(np.unique(labels)) < classes:
        return None
    if classes == 2:
        return _binary_auc(log_probability[:, 1] - log_probability[:, 0], labels == 1)
    return float(np.mean([_binary_auc(log_probability[:, c], labels == c) for c in range(classes)]))


def _binary_auc(score: np.ndarray, positive: np.ndarray) -> float:
    """Chance that a positive ranks above a negative, ties counting half (Mann-Whitney U over n1 times n0)."""
    _, rank_of, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    rank = (last - (counts - 1) / 2.0)[rank_of]  # mean rank of equal scores, from 1
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    return float((rank[positive].sum() - n1 * (n1 + 1) / 2.0) / (n1 * n0))


def predictions_sha256(logits: np.ndarray) -> str:
    """Hash of the predicted classes, in the order of the rows (test nodes by id): int64, little endian."""
    return hashlib.sha256(logits.argmax(axis=1).astype("<i8").tobytes()).hexdigest()
