"""Driver functions that pygpu looks up but does not call (rows of cl.fn), and why they are rows."""

UNUSED = {
    "clCreateBufferWithProperties": "adds nothing to clCreateBuffer but extensions' properties",
    "clCreateImageWithProperties": "adds nothing to clCreateImage but extensions' properties",
    "clEnqueueTask": "deprecated: enqueue_task launches one work-item with clEnqueueNDRangeKernel",
    "clSetCommandQueueProperty": "deprecated in OpenCL 1.1, and removed",
    "clSetContextDestructorCallback": "contexts lend no host memory",
    "clSetKernelExecInfo": "kernels say which SVM they use by their arguments",
    "clSetProgramReleaseCallback": "deprecated in OpenCL 2.2",
    "clUnloadCompiler": "replaced by clUnloadPlatformCompiler",
}
