import numpy as np
import pytest
from scipy.special import betaln

from literal_tci import literal_frequency_weights, literal_tci
from rinn.genomics.tci.events import as_events
from rinn.genomics.tci.inference import infer_causes
from rinn.genomics.tci.prior import make_prior
from rinn.genomics.tci.scores import MarginalTable


def draw(seed, tumours=40, sgas=7, degs=5, tissues=0):
    rng = np.random.default_rng(seed)
    x = (rng.random((tumours, sgas)) < rng.uniform(0.05, 0.6, sgas)).astype(int)
    y = (rng.random((tumours, degs)) < rng.uniform(0.1, 0.8, degs)).astype(int)
    y[:, 0] = np.where(rng.random(tumours) < 0.9, x[:, 0], y[:, 0])  # a cause that is real
    y[:, 1] = np.where(rng.random(tumours) < 0.9, x[:, 1] | x[:, 2], y[:, 1])
    labels = [f"t{k}" for k in rng.integers(tissues, size=tumours)] if tissues else None
    return as_events(x, y, labels, min_samples=2), x.tolist(), y.tolist(), labels


def compare(events, x, y, labels, prior, direction, model="mixture"):
    top = len(events.sgas) + 1
    causes = infer_causes(events, prior, any_direction=not direction, tissue_model=model, top=top)
    weights = prior.weights.tolist()
    expected, drivers = literal_tci(x, y, weights, prior.other, labels, direction, model)
    cells = 0
    for t in range(len(x)):
        for i in range(len(y[0])):
            found = dict(zip(causes.top[t, i].tolist(), causes.posterior[t, i], strict=True))
            found.pop(-1, None)
            wanted = expected.get((t, i), {})
            assert found == pytest.approx(wanted, abs=1e-6)
            cells += len(wanted)
            if wanted:
                assert causes.posterior[t, i, 0] == pytest.approx(max(wanted.values()), abs=1e-9)
    for i in range(len(y[0])):
        shares = [share for _, share in drivers[i]]
        assert causes.driver_posteriors[i] == pytest.approx(shares, abs=1e-6)
        assert causes.drivers[i, 0] == drivers[i][0][0]
    return cells


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("direction", [True, False])
def test_equals_literal(seed, direction):
    events, x, y, labels = draw(seed)
    assert compare(events, x, y, labels, make_prior(events), direction) > 100


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("direction", [True, False])
@pytest.mark.parametrize("model", ["mixture", "strata"])
def test_tissue_aware_equals_literal(seed, direction, model):
    events, x, y, labels = draw(seed, tissues=3)
    prior = make_prior(events, "uniform", 0.2)
    assert compare(events, x, y, labels, prior, direction, model) > 100


def test_tissue_aware_differs_from_blind():
    events, x, y, _ = draw(0, tissues=3)
    blind = as_events(np.array(x), np.array(y), min_samples=2)
    prior = make_prior(events)
    both = [infer_causes(some, prior).posterior for some in (events, blind)]
    assert np.abs(both[0] - both[1]).max() > 0.01


def test_one_tissue_is_blind():
    events, x, y, _ = draw(1)
    same = as_events(np.array(x), np.array(y), ["lung"] * len(x), min_samples=2)
    prior = make_prior(events)
    np.testing.assert_array_equal(
        infer_causes(same, prior).posterior, infer_causes(events, prior).posterior
    )


def test_frequency_prior_equals_literal():
    events, x, *_ = draw(3)
    assert make_prior(events).weights == pytest.approx(literal_frequency_weights(x))


@pytest.mark.parametrize(("block", "cores"), [(1, 1), (3, 2), (64, 3)])
def test_block_and_cores_change_nothing(block, cores):
    events, *_ = draw(5, tumours=300, sgas=40, degs=30, tissues=3)
    prior = make_prior(events)
    wanted = infer_causes(events, prior, top=3)
    found = infer_causes(events, prior, top=3, block=block, cores=cores)
    for name in ("top", "posterior", "drivers", "driver_posteriors"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_best_come_first_and_sum_to_one():
    events, *_ = draw(7, tumours=100)
    causes = infer_causes(events, make_prior(events), top=len(events.sgas) + 1)
    assert (np.diff(causes.posterior, axis=2) <= 0).all()
    np.testing.assert_allclose(causes.posterior.sum(axis=2), events.expressed, atol=1e-12)
    assert ((causes.top[..., 0] == -1) == ~events.expressed).all()
    shortened = infer_causes(events, make_prior(events), top=2)
    np.testing.assert_array_equal(shortened.posterior, causes.posterior[..., :2])
    np.testing.assert_array_equal(shortened.top, causes.top[..., :2])


def test_absent_sgas_are_no_causes():
    events, x, *_ = draw(8, tumours=200)
    causes = infer_causes(events, make_prior(events), top=4)
    tumour, deg, place = np.nonzero(causes.top > 0)
    sga = causes.top[tumour, deg, place] - 1
    assert np.array(x)[tumour, sga].all()


def test_tumour_without_sga_has_unknown_cause():
    events = as_events(
        np.array([[0], [1], [1], [0]]), np.array([[1], [1], [0], [0]]), min_samples=2
    )
    causes = infer_causes(events, make_prior(events), top=2)
    assert causes.top[0, 0].tolist() == [0, -1]
    assert causes.posterior[0, 0].tolist() == [1, 0]


def test_twins_share_and_first_is_named():
    x = np.repeat([[1, 1], [0, 0]], 30, axis=0)
    events = as_events(x, x[:, :1])
    causes = infer_causes(events, make_prior(events), top=2)
    assert causes.top[0, 0].tolist() == [1, 2]
    assert causes.posterior[0, 0, 0] == causes.posterior[0, 0, 1] <= 0.5


def test_strong_signals_do_not_overflow():
    x = np.repeat(np.eye(3, dtype=int), 3000, axis=0)
    events = as_events(x, x)
    causes = infer_causes(events, make_prior(events))
    assert (causes.top[[0, 3000, 6000], [0, 1, 2], 0] == [1, 2, 3]).all()
    assert causes.posterior[0, 0, 0] > 1 - 1e-9


def test_empty_columns_do_no_harm():
    x, y = np.zeros((60, 3), int), np.zeros((60, 3), int)
    x[:20, 0], y[:20, 0], y[:, 2] = 1, 1, 1
    causes = infer_causes(as_events(x, y), make_prior(as_events(x, y)), top=2)
    assert causes.top[0, 0, 0] == 1
    assert (causes.top[:, 1] == -1).all()
    assert (causes.top[30:, 2, 0] == 0).all()
    assert np.isfinite(causes.posterior).all()


def test_inputs_stay_as_they_are():
    x, y = np.eye(60, 4), np.eye(60, 3)
    events = as_events(x, y)
    before = events.altered.toarray(), events.expressed.copy()
    infer_causes(events, make_prior(events))
    np.testing.assert_array_equal(events.altered.toarray(), before[0])
    np.testing.assert_array_equal(events.expressed, before[1])


def test_interrupt_ends_the_work():
    events, *_ = draw(9, degs=40)
    seen = []

    def report(count):
        seen.append(count)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        infer_causes(events, make_prior(events), block=1, cores=2, report=report)
    assert len(seen) == 1


def test_tables_equal_formula():
    rng = np.random.default_rng(0)
    n = rng.integers(0, 5000, 100)
    k = rng.integers(0, n + 1)
    for beta in ((2.0, 1.0), (1.0, 2.0), (1.0, 1.0)):
        expected = betaln(k + beta[0], n - k + beta[1]) - betaln(*beta)
        np.testing.assert_allclose(MarginalTable(5000, beta)(n, k), expected, rtol=1e-9)
