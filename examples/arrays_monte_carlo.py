"""Pi and the price of an option from random numbers that are made on the device."""

import math

import numpy as np

import pygpu as cl
from pygpu.array import Array
from pygpu.clrandom import PhiloxGenerator
from pygpu.reduction import ReductionKernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
generator = PhiloxGenerator(context, seed=2024)
N = 1 << 20

# Pi: how many points of the unit square lie within the quarter of the unit circle.
points = generator.uniform(queue, (2, N), np.float32)
inside = ReductionKernel(
    context,
    np.int32,
    neutral="0",
    reduce_expr="a + b",
    map_expr="x[i] * x[i] + y[i] * y[i] < 1 ? 1 : 0",
    arguments="float *x, float *y",
)
pi = 4 * int(inside(points[0], points[1]).get()) / N
print(f"pi is about {pi:.4f}")
assert abs(pi - math.pi) < 0.01

# A call option: the mean of what it pays for lognormal prices, against Black and Scholes.
price, strike, rate, volatility, years = 100.0, 105.0, 0.02, 0.25, 1.0
normal = Array(queue, N, np.float32)
generator.fill_normal(normal)
payoff = ReductionKernel(
    context,
    np.float32,
    neutral="0",
    reduce_expr="a + b",
    map_expr="fmax(price * exp(drift + deviation * z[i]) - strike, 0.0f) / n_paths",
    arguments="float *z, float price, float drift, float deviation, float strike, float n_paths",
)
deviation = volatility * math.sqrt(years)
drift = rate * years - deviation**2 / 2
value = math.exp(-rate * years) * float(payoff(normal, price, drift, deviation, strike, N).get())
d1 = (math.log(price / strike) + rate * years) / deviation + deviation / 2
exact = (
    price * (1 + math.erf(d1 / math.sqrt(2))) / 2
    - strike * math.exp(-rate * years) * (1 + math.erf((d1 - deviation) / math.sqrt(2))) / 2
)
print(f"the option is worth about {value:.3f}; exactly {exact:.3f}")
assert abs(value - exact) < 0.1
