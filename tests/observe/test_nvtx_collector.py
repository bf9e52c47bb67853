"""Ranges of the package nvtx arrive at a tool that collects them, as Nsight Systems would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

# NVTX loads the library that NVTX_INJECTION64_PATH names and asks it to fill in a table. Numbers as
# in nvtxInitDecls.h: table 1 has the callbacks, module 5 the functions of domains.
COLLECTOR = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void (*Function)(void);
typedef struct { size_t size; int (*table)(int module, Function ***table, unsigned *n); } Callbacks;
typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
} Attributes;
static void say(const char *what, const char *name) {
    FILE *file = fopen(getenv("SAID"), "a");
    fprintf(file, "%s %s\\n", what, name);
    fclose(file);
}
static void *create_domain(const char *name) { say("domain", name); return strdup(name); }
static void *register_string(void *domain, const char *text) { (void)domain; return strdup(text); }
static int push(void *domain, const Attributes *range) {
    say(domain, range->message); /* text, or a registered string, which is text here as well */
    return 0;
}
static int pop(void *domain) { say(domain, "-"); return 0; }
int InitializeInjectionNvtx2(const void *(*get)(uint32_t)) {
    const Callbacks *callbacks = get(1);
    Function **table;
    unsigned n;
    if (callbacks == NULL || !callbacks->table(5, &table, &n) || n < 13)
        return 0;
    *table[4] = (Function)push;
    *table[5] = (Function)pop;
    *table[10] = (Function)register_string;
    *table[12] = (Function)create_domain;
    return 1;
}
"""
PROGRAM = """
import numpy as np, pygpu
from pygpu import xp
x = xp.ones(10, device="DEVICE")
with pygpu.profile() as p, p.range("all"):
    np.negative(x).get()
"""


@pytest.mark.parametrize("device", ["opencl", "cuda"])
def test_ranges_arrive(device, tmp_path):
    pytest.importorskip("nvtx", reason="the package nvtx is not installed")
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    (tmp_path / "collector.c").write_text(COLLECTOR)
    library, said = tmp_path / "collector.so", tmp_path / "said"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, tmp_path / "collector.c"], check=True
    )
    environment = os.environ | {
        "NVTX_INJECTION64_PATH": str(library),
        "SAID": str(said),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    environment.pop("PYGPU_NVTX_LIBRARY", None)
    program = PROGRAM.replace("DEVICE", device)
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    expected = ["all", "pg_run_negative", "-", "copy to host", "-", "-"]
    assert said.read_text().splitlines() == ["domain pygpu", *(f"pygpu {x}" for x in expected)]
