"""Attention worked by hand on three tokens of width 2, and known ways to get it wrong.

Q = K = [[1, 0], [0, 1], [1, 1]] and V = [[1, 2], [3, 4], [5, 6]], one head, d_k = 2: small
enough for paper, and no row of the output hides a missing mask or scale. Plain Python floats;
a matrix is a list of rows. The mathematics is equation 1 of Vaswani et al. 2017; a causal query
i sees keys 0 to i.
"""

from __future__ import annotations

from math import exp, sqrt

Matrix = list[list[float]]

QUERIES: Matrix = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
KEYS: Matrix = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
VALUES: Matrix = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
WIDTH = len(KEYS[0])


def _transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = _transposed(b)
    return [[sum(x * y for x, y in zip(row, c, strict=True)) for c in columns] for row in a]


def _divided(a: Matrix, by: float) -> Matrix:
    return [[x / by for x in row] for row in a]


def _masked(a: Matrix, fill: float) -> Matrix:
    return [[x if j <= i else fill for j, x in enumerate(row)] for i, row in enumerate(a)]


def _softmax(a: Matrix) -> Matrix:
    rows = []
    for row in a:
        top = max(row)
        parts = [exp(x - top) for x in row]
        total = sum(parts)
        rows.append([x / total for x in parts])
    return rows


def _scores() -> Matrix:
    return _product(QUERIES, _transposed(KEYS))


def _scaled() -> Matrix:
    return _divided(_scores(), sqrt(WIDTH))


def _weights_causal() -> Matrix:
    return _softmax(_masked(_scaled(), float("-inf")))


def attention_by_hand(**_: object) -> dict[str, Matrix]:
    """Each step's matrix by part id: the (3, 3) scores and weights, the (3, 2) outputs."""
    weights = _weights_causal()
    return {
        "scores": _scores(),
        "scaled": _scaled(),
        "weights-causal": weights,
        "output-causal": _product(weights, VALUES),
        "output-full": _product(_softmax(_scaled()), VALUES),
    }


def scaled_by_width(**_: object) -> Matrix:
    """`scaled` divided by d_k in place of sqrt(d_k)."""
    return _divided(_scores(), WIDTH)


def scaled_by_multiplying(**_: object) -> Matrix:
    """`scaled` multiplied by sqrt(d_k) in place of divided."""
    return _divided(_scores(), 1 / sqrt(WIDTH))


def weights_over_queries(**_: object) -> Matrix:
    """`weights-causal` with each column, not each row, summing to 1."""
    columns = _transposed(_masked(_scaled(), float("-inf")))
    return _transposed(_softmax(columns))


def weights_masked_after(**_: object) -> Matrix:
    """`weights-causal` with the mask put on after the softmax, the rows not made to sum to 1."""
    return _masked(_softmax(_scaled()), 0.0)


def weights_unmasked(**_: object) -> Matrix:
    """`weights-causal` without the mask."""
    return _softmax(_scaled())


def weights_unscaled(**_: object) -> Matrix:
    """`weights-causal` from the unscaled scores."""
    return _softmax(_masked(_scores(), float("-inf")))


def weights_masked_with_zero(**_: object) -> Matrix:
    """`weights-causal` with hidden scores set to 0, which e^0 = 1 lets in, in place of -inf."""
    return _softmax(_masked(_scaled(), 0.0))


def output_over_queries(**_: object) -> Matrix:
    """`output-causal` from weights that sum to 1 over the queries."""
    return _product(weights_over_queries(), VALUES)


def output_masked_after(**_: object) -> Matrix:
    """`output-causal` from weights masked after the softmax and not renormalised."""
    return _product(weights_masked_after(), VALUES)


def output_unmasked(**_: object) -> Matrix:
    """`output-causal` without the mask: it is `output-full`."""
    return _product(weights_unmasked(), VALUES)


def output_unscaled(**_: object) -> Matrix:
    """`output-causal` from the unscaled scores."""
    return _product(weights_unscaled(), VALUES)


def output_full_masked(**_: object) -> Matrix:
    """`output-full` with the causal mask left on: it is `output-causal`."""
    return _product(_weights_causal(), VALUES)


def output_full_unscaled(**_: object) -> Matrix:
    """`output-full` from the unscaled scores."""
    return _product(_softmax(_scores()), VALUES)
