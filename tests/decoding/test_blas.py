"""Products of decoding take one thread, and others what they had."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import ThreadpoolController

from fencepost.decoding.blas import one_thread
from fencepost.decoding.walk import walk
from tests.decoding.searching import search, vectors
from tests.heads import make_head


def threads() -> list[int]:
    blas = ThreadpoolController().select(user_api="blas")
    return [library.num_threads for library in blas.lib_controllers]


def test_the_last_one_out_restores_what_was_before() -> None:
    before = threads()
    with one_thread:
        with one_thread:
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before


def test_a_walk_that_is_given_up_restores_it_too() -> None:
    before = threads()
    steps = walk(*search(make_head(), *vectors([6])))
    assert np.isfinite(next(steps).log_probs).all()
    assert set(threads()) <= {1}
    del steps
    gc.collect()
    assert threads() == before


def test_every_thread_of_the_process_may_limit_and_restore() -> None:
    before = threads()
    with one_thread:
        pass
    with ThreadPoolExecutor(1) as pool:
        assert set(pool.submit(limited).result()) <= {1}
        one_thread.__enter__()
        pool.submit(one_thread.__exit__, None, None, None).result()
        assert threads() == before


def limited() -> list[int]:
    with one_thread:
        return threads()
