"""Pi and an option's price by random numbers on the device, in streams that do not overlap.

python examples/array_random.py [device, such as "opencl" or "cuda:0"]
"""

import math
import sys

import pygpu.xp as xp
from pygpu import random


def pi(rng, count):
    """How many points of the unit square lie in the quarter of a circle."""
    points = rng.random((2, count))
    inside = xp.sum(points * points, axis=0) < 1
    return 4 * float(xp.mean(xp.astype(inside, points.dtype)))


def call_option(rng, count, price=100.0, strike=105.0, rate=0.02, volatility=0.3, years=1.0):
    """The mean of discounted payoffs, whose final prices are log-normal."""
    mean = math.log(price) + (rate - volatility**2 / 2) * years
    final = rng.lognormal(mean, volatility * math.sqrt(years), count)
    payoff = xp.maximum(final - strike, xp.zeros_like(final))
    return math.exp(-rate * years) * float(xp.mean(payoff))


def black_scholes(price=100.0, strike=105.0, rate=0.02, volatility=0.3, years=1.0):
    """The exact price."""
    spread = volatility * math.sqrt(years)
    d = (math.log(price / strike) + (rate + volatility**2 / 2) * years) / spread

    def cdf(x):
        return (1 + math.erf(x / math.sqrt(2))) / 2

    return price * cdf(d) - strike * math.exp(-rate * years) * cdf(d - spread)


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else None
    first, second = random.default_rng(17, device=device).spawn(2)
    estimate = pi(first, 200_000)
    print(f"pi is about {estimate:.3f}")
    assert abs(estimate - math.pi) < 0.02
    value, exact = call_option(second, 200_000), black_scholes()
    print(f"the option is worth about {value:.2f}, exactly {exact:.2f}")
    assert abs(value - exact) < 0.3


if __name__ == "__main__":
    main()
