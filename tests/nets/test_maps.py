import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rinn.nets.maps import map_net
from rinn.nets.redundant import Weights, draw_weights


def test_hand_worked_chain():
    # One node a layer: x acts on the second layer by 3, that on y by 5; the first layer by 2, 7.
    weights = Weights(
        inputs=np.array([[[2.0]], [[3.0]]]),
        hidden=np.array([[[7.0]]]),
        output=np.array([[5.0]]),
        bias=np.zeros((2, 1)),
        output_bias=np.zeros(1),
    )
    maps = map_net(weights)
    assert maps.hidden.ravel().tolist() == [35.0, 5.0]
    assert maps.by_layer.ravel().tolist() == [70.0, 15.0]
    assert maps.inputs.item() == 85.0


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_maps_are_the_products_of_the_weights(layers, width, inputs, outputs):
    weights = draw_weights(np.random.default_rng(0), "he", layers, width, inputs, outputs)
    maps = map_net(weights)
    for j in range(layers):
        product = np.eye(width)
        for w in weights.hidden[j:]:
            product = product @ w.T
        np.testing.assert_allclose(maps.hidden[j], product @ weights.output.T, atol=1e-5)
    # A linear network's slope by an input is the input's map.
    h = np.zeros((width, inputs))
    for layer in range(layers):
        below = weights.hidden[layer - 1] @ h if layer else 0.0
        h = below + weights.inputs[layer] @ np.eye(inputs)
    np.testing.assert_allclose(maps.inputs, (weights.output @ h).T, atol=1e-5)
    assert maps.nodes.shape == (layers * width, outputs)


def test_plain_networks_have_maps_of_the_layer_that_reads_the_inputs():
    weights = draw_weights(np.random.default_rng(0), "he", 3, 4, 2, 5, redundant=False)
    maps = map_net(weights)
    assert maps.by_layer.shape == (1, 2, 5)
    np.testing.assert_allclose(maps.inputs, weights.inputs[0].T @ maps.hidden[0])


def test_of_an_autoencoder_the_decoder_is_mapped():
    weights = draw_weights(np.random.default_rng(0), "he", 5, 4, 6, 6, redundant=False)
    maps, decoder = map_net(weights), map_net(weights, decoder=True)
    np.testing.assert_array_equal(decoder.hidden, maps.hidden[2:])
    assert decoder.inputs.shape == (0, 6)
    assert decoder.nodes.shape == (12, 6)


def test_weights_are_left_alone():
    weights = draw_weights(np.random.default_rng(0), "he", 3, 4, 2, 2)
    before = [part.copy() for part in weights]
    map_net(weights)
    for a, b in zip(weights, before, strict=True):
        np.testing.assert_array_equal(a, b)
