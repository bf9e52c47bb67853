"""A pytest plugin: pytest-xdist kills workers that have not ended after ten seconds, and with them
what they counted for gcov and Coverage, which they write at their end."""

from xdist.workermanage import NodeManager

NodeManager.EXIT_TIMEOUT = 600  # [s]
