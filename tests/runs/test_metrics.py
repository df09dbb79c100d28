"""Metrics agree with scikit-learn, and with hand counts on small cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, log_loss, precision_recall_fscore_support, roc_auc_score

from harness.runs import metrics


def _logits(predicted: list[int], classes: int) -> np.ndarray:
    return np.eye(classes, dtype=np.float32)[predicted] * 3.0


def test_accuracy_and_macro_f1_by_hand():
    labels = np.array([0, 0, 1, 1, 2])
    scores = metrics.scores(_logits([0, 1, 1, 1, 0], 3), labels)
    assert scores.accuracy == pytest.approx(3 / 5)
    # class 0: p 1/2, r 1/2; class 1: p 2/3, r 1; class 2: never hit
    assert scores.macro_f1 == pytest.approx((0.5 + 0.8 + 0.0) / 3)


def test_binary_auc_uses_the_positive_class():
    """Three of the four pairs of a positive and a negative are ranked rightly."""
    positive_score = np.array([0.1, 0.4, 0.35, 0.8])
    logits = np.stack([np.zeros(4), positive_score], axis=1)
    assert metrics.scores(logits, np.array([0, 0, 1, 1])).roc_auc == pytest.approx(0.75)


def test_auc_of_constant_scores_is_one_half():
    assert metrics.scores(np.zeros((4, 2)), np.array([0, 1, 0, 1])).roc_auc == pytest.approx(0.5)


def test_auc_survives_saturated_logits():
    """Probabilities round to 1.0 here; the order of the logits is kept."""
    logits = np.stack([np.zeros(4), np.array([50.0, 60.0, 70.0, 80.0])], axis=1).astype(np.float32)
    assert metrics.scores(logits, np.array([0, 0, 1, 1])).roc_auc == 1.0


@pytest.mark.parametrize(("classes", "labels"), [(3, [0, 1, 1, 0]), (2, [1, 1, 1, 1])])
def test_auc_is_none_where_a_class_is_missing(classes, labels):
    logits = np.random.default_rng(0).normal(size=(4, classes))
    found = metrics.scores(logits, np.array(labels))
    assert found.roc_auc is None
    assert np.isfinite([found.accuracy, found.macro_f1, found.loss]).all()


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6), n=st.integers(20, 120), coarse=st.booleans())
def test_agrees_with_scikit_learn(seed, classes, n, coarse):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, classes)).astype(np.float32)
    if coarse:
        logits = logits.round()  # ties
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    found = metrics.scores(logits, labels)
    p = np.exp(logits.astype(np.float64))
    p /= p.sum(axis=1, keepdims=True)
    predicted = logits.argmax(axis=1)
    assert found.macro_f1 == pytest.approx(f1_score(labels, predicted, average="macro", zero_division=0))
    assert found.loss == pytest.approx(log_loss(labels, p, labels=np.arange(classes)))
    if not coarse:  # rounding makes or breaks ties of softmax values differently from those of its logarithm
        auc = roc_auc_score(labels, p[:, 1] if classes == 2 else p, multi_class="ovr", average="macro")
        assert found.roc_auc == pytest.approx(auc)
    rows = metrics.per_class(logits, labels, [f"c{i}" for i in range(classes)])
    expected = precision_recall_fscore_support(labels, predicted, labels=np.arange(classes), zero_division=0)
    assert np.allclose([[r.precision, r.recall, r.f1, r.support] for r in rows], np.array(expected).T)


def test_binary_ties_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    score, labels = rng.integers(0, 5, 200), rng.integers(0, 2, 200)
    logits = np.stack([np.zeros(200), score], axis=1)
    assert metrics.scores(logits, labels).roc_auc == pytest.approx(roc_auc_score(labels, score))


def test_a_class_without_nodes_has_a_row_with_support_zero():
    rows = metrics.per_class(_logits([0, 2], 3), np.array([0, 0]), ["a", "b", "c"])
    assert [(r.name, r.support, r.recall) for r in rows] == [("a", 2, 0.5), ("b", 0, 0.0), ("c", 0, 0.0)]


def test_the_hash_is_of_predictions_not_of_logits():
    one, two = _logits([0, 1, 2], 3), _logits([0, 1, 2], 3) * 7.0
    assert metrics.predictions_sha256(one) == metrics.predictions_sha256(two)
    assert metrics.predictions_sha256(one) != metrics.predictions_sha256(_logits([0, 1, 1], 3))
