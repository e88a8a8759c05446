import pytest

import anylight


@pytest.fixture(scope="session")
def vase():
    options = anylight.SynthOptions(shape="vase", albedo="bars", images=3, height=64)
    return anylight.render(options).truth
