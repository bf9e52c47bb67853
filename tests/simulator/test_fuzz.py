"""Random calls with handles and addresses that are live, stale or invented: none may crash."""

import pytest
from simulator.sim_driver import run_script

SCRIPT = """
import random

SKIPPED = {
    "cuInit", "cuLaunchHostFunc", "cuStreamAddCallback", "cuGraphDebugDotPrint", "cuModuleLoad",
    "cuLinkAddFile", "cuLinkAddData", "cuCtxSetLimit", "cuMemHostRegister", "cuMemHostUnregister",
    "cuModuleGetFunction", "cuModuleGetGlobal", "cuDeviceGetByPCIBusId", "cuGetErrorName",
    "cuGetErrorString", "cuMemPoolSetAttribute", "cuPointerSetAttribute", "cuLinkCreate",
    "cuGraphLaunch", "cuCtxDestroy", "cuDevicePrimaryCtxReset",
}
random.seed(SEED)
d.cuInit(0)
contexts = [d.get("cuCtxCreate", 0, 0) for _ in range(2)]
module = d.get("cuModuleLoad", IMAGE)
functions = [d.function(module, name) for name in ("nop", "add", "plus")]
pinned = d.get("cuMemHostAlloc", 1 << 16, 0)
scratch = (ctypes.c_ulonglong * 8192)()  # what calls write to, and read from
host = ctypes.addressof(scratch)
handles, addresses = [*contexts, module, *functions], [pinned]

def number():
    return random.choice([0, 1, 2, 3, 4, 8, 16, 100, 4096, random.getrandbits(16)])

def huge():
    return random.choice([2**31, 2**32, 2**40, 2**63, 2**64 - 1, random.getrandbits(64)])

def handle():
    pick = random.random()
    if pick < 0.8 and handles:
        return random.choice(handles)
    return random.choice([0, 1, 2, random.getrandbits(64) & ~15, 16 * random.getrandbits(30)])

def address():
    pick = random.random()
    if pick < 0.8:
        return random.choice(addresses) + random.choice([0, 0, 0, 4, 64, 1000])
    return random.choice([0, 16, random.getrandbits(64)])

def structure(words):
    for i in range(40):
        words[i] = random.choice([0, 0, 1, 2, 3, 4, 8, 16, 32, 64, number(), handle(), address()])

def box(name, words):
    # host memory is only ever ours, and the box small
    two = "2D" in name
    per_side = 7 if two else 11
    for side in (0, per_side):
        kind = random.choice([2, 2, 3, 4, 0, 9])
        values = [random.choice([0, 0, 4, 8]), random.choice([0, 0, 1])]
        if not two:
            values += [random.choice([0, 0, 1]), random.choice([0, 0, 0, 1])]
        values += [kind, host, address() if kind != 4 else random.choice(addresses), handle()]
        if not two:
            values += [random.choice(contexts)]
        values += [random.choice([64, 128, 512, 0])]
        if not two:
            values += [random.choice([1, 4, 8])]
        words[side : side + len(values)] = values
    shape = [random.choice([0, 4, 16, 64]), random.choice([0, 1, 4]), random.choice([0, 1, 4])]
    words[2 * per_side : 2 * per_side + 3] = shape

calls = [row for row in rows() if row[1] not in SKIPPED]
answers = {}
for _ in range(CALLS):
    _, name, _, parameters = random.choice(calls)
    args = []
    out = [(ctypes.c_ulonglong * 64)() for _ in range(12)]
    for i, parameter in enumerate([] if parameters == "void" else parameters.split(", ")):
        kind = ctype(parameter)
        what = parameter.split()[-1].lstrip("*")
        if "pCopy" in parameter:
            box(name, out[i])
            args.append(out[i] if random.random() < 0.95 else None)
        elif any(part in parameter for part in ("const CUDA_", "Props", "CUlaunchConfig")):
            structure(out[i])
            if "CUlaunchConfig" in parameter:
                out[i][4] = out[i][5] = 0  # no attributes
                out[i][3] = random.choice([0, 8])
            args.append(out[i])
        elif what in ("srcHost", "dstHost"):
            args.append(random.choice([host, host, pinned, None, 64]))
        elif what in "kernelParams extra options optionValues attributes data map".split():
            args.append(None)
        elif what in ("image", "fatCubin"):
            args.append(b"junk")
        elif what == "p":
            args.append(random.choice([pinned + 64, host, 0]))
        elif kind is ctypes.c_void_p and ("*" in parameter):
            args.append(random.choice([out[i]] * 9 + [None]))
        elif kind is ctypes.c_void_p and what not in ("blockSizeToDynamicSMemSize", "fn"):
            args.append(handle())
        elif kind is ctypes.c_void_p:
            args.append(None)
        elif kind is ctypes.c_ulonglong:
            device = "CUdeviceptr" in parameter
            args.append(address() if device else random.choice([handle(), address()]))
        elif kind is IpcHandle:
            args.append(IpcHandle())
        elif what == "len":
            args.append(random.choice([0, -1, 100]))
        elif what.startswith(("gridDim", "blockDim")):
            args.append(random.choice([1, 1, 1, 2, 0]))
        elif what in ("sharedMemBytes",):
            args.append(random.choice([0, 100, 2**31]))
        elif "Host" in parameters or name in ("cuGraphGetNodes",):
            args.append(random.choice([0, 1, 8, 100]))
        else:
            small = random.random() < 0.9 or kind is ctypes.c_int
            args.append(number() if small else kind(huge()).value)
    if name.startswith("cuMemAlloc") and name != "cuMemAllocPitch":
        args[1] = random.choice([100, 5000, 70000, 0])
    if name in ("cuMemcpy", "cuMemcpyAsync"):
        args[:2] = [random.choice(addresses), random.choice(addresses)]
    status = d.status(name, *args)
    answers.setdefault(name, set()).add(status)
    makes = parameters.startswith(("CU", "void **pp")) and "*" in parameters.split(",")[0]
    if status == 0 and makes:
        value = out[0][0]
        (addresses if name.startswith(("cuMemAlloc", "cuMemHost")) else handles).append(value)
        if len(handles) > 300:
            del handles[random.randrange(8, len(handles))]
    if len(addresses) > 100:
        del addresses[random.randrange(1, len(addresses))]
    if not d.get("cuCtxGetCurrent"):
        d.cuCtxSetCurrent(random.choice(contexts))
    if d.status("cuCtxSynchronize") not in (0, 900, 901):  # broken by a kernel, or destroyed
        while d.status("cuCtxPopCurrent", None) == 0:
            pass
        contexts[:] = [d.get("cuCtxCreate", 0, 0) for _ in range(2)]
print(len(answers), sum(0 in codes for codes in answers.values()))
"""


@pytest.mark.parametrize("seed", range(3))
def test_random_calls(image, tmp_path, seed):
    path = tmp_path / "image"
    path.write_bytes(image)
    script = f"SEED, CALLS, IMAGE = {seed}, 12000, {str(path)!r}.encode()\n" + SCRIPT
    called, succeeded = map(int, run_script(script).split())
    assert called > 140 and succeeded > 90, "the calls are not all refused"
