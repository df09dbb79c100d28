"""Principal components of the features (Pearson 1901; Hotelling 1933), fitted without ever holding the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from harness.graphs.features import chunks_of, row_slices

ENOUGH = 0.85  # of the variance: what is commonly asked of a projection
EXACT_WIDTH = 4_096  # a matrix of this side takes 134 MB, and its eigenvalues some seconds
MOST_OF_WIDE = 2_048  # components of a table beyond it: 16 bytes each and feature
ROUNDS = 8  # passes over the training rows of a wide table
SPARE = 32  # directions beside the wanted ones, which the last of them converge by
_COLUMN_BYTES = 64 << 20


@dataclass(frozen=True)
class Components:
    """``(x - mean) @ directions``.

    Attributes:
        mean: of the fitted rows, float64, ``[num_features]``.
        directions: float64, ``[num_features, k]``, orthonormal, of falling variance. The largest entry of each is
            positive. A direction along which the fitted rows do not differ is zero: nothing says where it points.
        explained: share of the fitted rows' variance along them; 1.0 where the rows do not differ at all.
        enough: so many components explain 85 % of it.
        at_least: `enough` is only a lower bound.
        method: `exact`, or `randomised` for a table too wide.
    """

    mean: np.ndarray
    directions: np.ndarray
    explained: float
    enough: int
    at_least: bool
    method: Literal["exact", "randomised"]


def fit_components(x: np.ndarray, fitted: np.ndarray, k: int) -> Components:
    """The first k principal components of some rows.

    Exact where features or rows are at most `EXACT_WIDTH`, from the smaller of the covariance of the features and the
    products of the rows; else by a seeded randomised block method, `ROUNDS` passes over the rows.

    Args:
        x: features, float32, ``[num_nodes, num_features]``.
        fitted: ids of the rows, ``[t]``.
        k: 1 .. min(t, num_features), and at most `MOST_OF_WIDE` beyond `EXACT_WIDTH`.
    """
    mean = np.zeros(x.shape[1])
    for rows in chunks_of(x, fitted):
        mean += rows.sum(axis=0)
    mean /= len(fitted)
    if x.shape[1] <= min(len(fitted), EXACT_WIDTH):
        return _from_covariance(x, fitted, mean, k)
    if len(fitted) <= EXACT_WIDTH:
        return _from_products(x, fitted, mean, k)
    return _randomised(x, fitted, mean, k)


def project(x: np.ndarray, components: Components) -> Iterator[np.ndarray]:
    """All rows on the components, float32, chunk by chunk, ``[rows, k]``."""
    for chunk in row_slices(len(x), 2 * x.shape[1]):
        rows = x[chunk].astype(np.float64) - components.mean
        yield (rows @ components.directions).astype(np.float32)


def _from_covariance(x: np.ndarray, fitted: np.ndarray, mean: np.ndarray, k: int) -> Components:
    products = np.zeros((x.shape[1], x.shape[1]))
    for rows in chunks_of(x, fitted):
        rows -= mean
        products += rows.T @ rows
    variances, directions = _largest(products, k)
    return _exact(mean, variances, directions, k)


def _from_products(x: np.ndarray, fitted: np.ndarray, mean: np.ndarray, k: int) -> Components:
    """For fewer rows than features: X X^T has the eigenvalues of X^T X, and X^T u / sqrt(eigenvalue) its vectors."""
    products = np.zeros((len(fitted), len(fitted)))
    for _, part in _column_blocks(x, fitted, mean):
        products += part @ part.T
    variances, among_rows = _largest(products, k)
    size = np.sqrt(np.maximum(variances[:k], np.finfo(np.float64).tiny))
    directions = np.empty((x.shape[1], k))
    for columns, part in _column_blocks(x, fitted, mean):
        directions[columns] = (part.T @ among_rows) / size
    return _exact(mean, variances, directions, k)


def _column_blocks(x: np.ndarray, fitted: np.ndarray, mean: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    width = max(1, _COLUMN_BYTES // (8 * len(fitted)))
    for first in range(0, x.shape[1], width):
        columns = slice(first, first + width)
        yield columns, x[fitted, columns].astype(np.float64) - mean[columns]


def _largest(products: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues of a symmetric matrix, falling, and the vectors of the first k; the matrix is lost."""
    n = len(products)
    values = scipy.linalg.eigvalsh(products)[::-1]
    if k == n:
        return values, scipy.linalg.eigh(products, overwrite_a=True)[1][:, ::-1]
    vectors = scipy.linalg.eigh(products, overwrite_a=True, subset_by_index=(n - k, n - 1))[1]
    return values, vectors[:, ::-1]


def _exact(mean: np.ndarray, variances: np.ndarray, directions: np.ndarray, k: int) -> Components:
    variances = _without_noise(variances)
    total = variances.sum()
    share = np.cumsum(variances) / total if total else np.ones(len(variances))
    return Components(
        mean=mean,
        directions=_directed(directions, variances[:k]),
        explained=min(1.0, float(share[k - 1])),
        enough=int(np.argmax(share >= ENOUGH)) + 1,
        at_least=False,
        method="exact",
    )


def _randomised(x: np.ndarray, fitted: np.ndarray, mean: np.ndarray, k: int) -> Components:
    """Subspace iteration with Rayleigh and Ritz's choice in the end (Halko, Martinsson and Tropp 2011, section 4.5)."""
    width = min(k + SPARE, x.shape[1], len(fitted))
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((x.shape[1], width)))[0]
    for _ in range(ROUNDS - 1):
        basis = np.linalg.qr(_times(x, fitted, mean, basis)[0])[0]
    image, total = _times(x, fitted, mean, basis)
    inside = basis.T @ image
    values, turned = scipy.linalg.eigh((inside + inside.T) / 2.0)
    variances = _without_noise(values[::-1])
    share = np.cumsum(variances) / total if total else np.ones(width)
    reached = np.flatnonzero(share >= ENOUGH)
    # where these are too few: no later component explains more than the last of them
    least = reached[0] + 1 if len(reached) else width + np.ceil((ENOUGH - share[-1]) * total / variances[-1])
    return Components(
        mean=mean,
        directions=_directed((basis @ turned[:, ::-1])[:, :k], variances[:k]),
        explained=min(1.0, float(share[k - 1])),
        enough=int(least),
        at_least=not len(reached),
        method="randomised",
    )


def _times(x: np.ndarray, fitted: np.ndarray, mean: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, float]:
    """The rows' scatter matrix times some vectors, and its trace."""
    image, total = np.zeros_like(basis), 0.0
    for rows in chunks_of(x, fitted):
        rows -= mean
        image += rows.T @ (rows @ basis)
        total += float(np.einsum("ij,ij->", rows, rows))
    return image, total


def _without_noise(variances: np.ndarray) -> np.ndarray:
    """Variances that are rounding alone become 0."""
    least = variances.max(initial=0.0) * len(variances) * np.finfo(np.float64).eps
    return np.where(variances > least, variances, 0.0)


def _directed(directions: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Signs that do not depend on the solver; among almost equal largest entries the first decides."""
    size = np.abs(directions)
    first = np.argmax(size >= size.max(axis=0) * (1.0 - 1e-6), axis=0)
    sign = np.sign(directions[first, np.arange(directions.shape[1])])
    return directions * np.where(variances > 0.0, sign, 0.0)
