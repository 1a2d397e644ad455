"""Intervals and paired tests, against figures from tables and from scipy."""

import numpy as np
import pytest
from scipy import stats

from export.statistics import interval, paired_p_value


def right(count: int, of: int) -> np.ndarray:
    return np.array([1.0] * count + [0.0] * (of - count))


@pytest.mark.parametrize(("count", "of"), [(0, 10), (10, 10), (45, 50), (1987, 2000)])
def test_a_share_has_wilsons_interval(count: int, of: int) -> None:
    expected = stats.binomtest(count, of).proportion_ci(method="wilson")
    assert interval(right(count, of)) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_other_scores_have_the_normal_interval() -> None:
    scores = np.linspace(0.2, 0.9, 101)
    low, high = interval(scores)
    half = 1.959964 * scores.std(ddof=1) / np.sqrt(101)
    assert (low, high) == pytest.approx((scores.mean() - half, scores.mean() + half), abs=1e-6)


def test_the_paired_test_of_right_and_wrong_is_mcnemars_exact_one() -> None:
    one, other = right(90, 100), right(90, 100)
    other[:9] = 0  # 9 got worse
    other[95:97] = 1  # 2 got better
    expected = stats.binomtest(2, 11).pvalue
    assert paired_p_value(one, other) == pytest.approx(expected)


def test_equal_scores_do_not_differ() -> None:
    assert paired_p_value(right(5, 9), right(5, 9)) == 1.0


def test_the_sign_flips_find_a_shift_and_no_shift() -> None:
    generator = np.random.default_rng(1)
    base = generator.uniform(0.2, 0.8, 400)
    noise = generator.normal(0, 0.05, 400)
    assert paired_p_value(base, base + noise - noise.mean()) > 0.2
    assert paired_p_value(base, base + noise - noise.mean() - 0.02) < 0.001


def test_the_sign_flips_are_the_same_every_time() -> None:
    one, other = np.linspace(0, 0.9, 30), np.linspace(0.1, 0.8, 30)
    assert paired_p_value(one, other) == paired_p_value(one, other)
