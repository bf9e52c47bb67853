"""Prices of options by the Black-Scholes formula: a function of numbers, applied to arrays."""

import math

import matplotlib.pyplot as plt
import numpy as np

import pygpu


@pygpu.jit
def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@pygpu.vectorize
def black_scholes(price, strike, years, rate, volatility):
    """(call, put)"""
    spread = volatility * math.sqrt(years)
    d1 = (math.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * math.exp(-rate * years)
    call = price * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, call - price + discounted


rng = np.random.default_rng(0)
n = 100_000
price, strike = rng.uniform(5, 30, n), rng.uniform(1, 100, n)
years = rng.uniform(0.25, 10, n)
call, put = black_scholes(price, strike, years, 0.02, 0.3)

# The same function, called by Python for one option.
one = black_scholes.py_func(price[7], strike[7], years[7], 0.02, 0.3)
assert np.allclose((call[7], put[7]), one)
# A call and a put differ by what the share costs now and the strike is worth now.
assert np.allclose(call - put, price - strike * np.exp(-0.02 * years))
print(f"{n} options, calls cost {call.mean():.3f} and puts {put.mean():.3f} on average")

now = np.linspace(60, 140, 81)
for left in (0.1, 0.5, 1.0, 2.0):
    plt.plot(now, black_scholes(now, 100.0, left, 0.02, 0.3)[0], label=f"{left} years left")
plt.gca().set(xlabel="price of the share", ylabel="price of a call at 100")
plt.legend()
plt.show()
