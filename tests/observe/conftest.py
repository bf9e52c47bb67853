"""Times, profiles and reports on both backends; the fixtures are those of the arrays."""

from array_fixtures import Maker, cuda_context, make, opencl_maker  # noqa: F401
