"""Reductions by Python functions: a sum, and one in which the order of the items counts."""

import numpy as np

import pygpu


@pygpu.reduce
def total(a, b):
    return a + b


@pygpu.reduce
def compose(f, g):
    """First f, then g, where m + c * 1j stands for the map x -> m * x + c."""
    return complex(f.real * g.real, f.imag * g.real + g.imag)


a = np.arange(1_000_000)
assert total(a) == a.sum()
assert (total(a.reshape(1000, 1000), axis=0) == a.reshape(1000, 1000).sum(0)).all()

# An account with interest and payments, month by month; from one number the whole year follows.
interest = np.full(12, 1.01)
payments = np.array([100.0, 0, 0, -50, 0, 0, 200, 0, 0, 0, -75, 0])
year = compose(interest + 1j * payments)
balance = 1000.0
for rate, payment in zip(interest, payments):
    balance = rate * balance + payment
assert np.isclose(year.real * 1000.0 + year.imag, balance)
print(f"a year makes 1000.00 {balance:.2f}")
