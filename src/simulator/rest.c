/* rest.c - calls that are not there yet: each says NOT_SUPPORTED. */
#include "driver.h"

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
    SIM_CALL(cuDeviceGetDefaultMemPool);
    (void)pool_out;
    (void)dev;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    SIM_CALL(cuDeviceGetMemPool);
    (void)pool;
    (void)dev;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    SIM_CALL(cuDeviceSetMemPool);
    (void)dev;
    (void)pool;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut) {
    SIM_CALL(cuLinkCreate);
    (void)numOptions;
    (void)options;
    (void)optionValues;
    (void)stateOut;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int numOptions, CUjit_option *options, void **optionValues) {
    SIM_CALL(cuLinkAddData);
    (void)state;
    (void)type;
    (void)data;
    (void)size;
    (void)name;
    (void)numOptions;
    (void)options;
    (void)optionValues;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option *options, void **optionValues) {
    SIM_CALL(cuLinkAddFile);
    (void)state;
    (void)type;
    (void)path;
    (void)numOptions;
    (void)options;
    (void)optionValues;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    SIM_CALL(cuLinkComplete);
    (void)state;
    (void)cubinOut;
    (void)sizeOut;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuLinkDestroy(CUlinkState state) {
    SIM_CALL(cuLinkDestroy);
    (void)state;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    SIM_CALL(cuPointerGetAttribute);
    (void)data;
    (void)attribute;
    (void)ptr;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr) {
    SIM_CALL(cuPointerGetAttributes);
    (void)numAttributes;
    (void)attributes;
    (void)data;
    (void)ptr;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    SIM_CALL(cuPointerSetAttribute);
    (void)value;
    (void)attribute;
    (void)ptr;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    SIM_CALL(cuMemAllocAsync);
    (void)dptr;
    (void)bytesize;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    SIM_CALL(cuMemFreeAsync);
    (void)dptr;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
    SIM_CALL(cuMemAllocFromPoolAsync);
    (void)dptr;
    (void)bytesize;
    (void)pool;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    SIM_CALL(cuMemPoolCreate);
    (void)pool;
    (void)poolProps;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    SIM_CALL(cuMemPoolDestroy);
    (void)pool;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    SIM_CALL(cuMemPoolTrimTo);
    (void)pool;
    (void)minBytesToKeep;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    SIM_CALL(cuMemPoolGetAttribute);
    (void)pool;
    (void)attr;
    (void)value;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    SIM_CALL(cuMemPoolSetAttribute);
    (void)pool;
    (void)attr;
    (void)value;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    SIM_CALL(cuMemPoolSetAccess);
    (void)pool;
    (void)map;
    (void)count;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount) {
    SIM_CALL(cuMemcpyDtoA);
    (void)dstArray;
    (void)dstOffset;
    (void)srcDevice;
    (void)ByteCount;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    SIM_CALL(cuMemcpyAtoD);
    (void)dstDevice;
    (void)srcArray;
    (void)srcOffset;
    (void)ByteCount;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount) {
    SIM_CALL(cuMemcpyHtoA);
    (void)dstArray;
    (void)dstOffset;
    (void)srcHost;
    (void)ByteCount;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyAtoH(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    SIM_CALL(cuMemcpyAtoH);
    (void)dstHost;
    (void)srcArray;
    (void)srcOffset;
    (void)ByteCount;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    SIM_CALL(cuMemcpyAtoA);
    (void)dstArray;
    (void)dstOffset;
    (void)srcArray;
    (void)srcOffset;
    (void)ByteCount;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyHtoAAsync);
    (void)dstArray;
    (void)dstOffset;
    (void)srcHost;
    (void)ByteCount;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyAtoHAsync);
    (void)dstHost;
    (void)srcArray;
    (void)srcOffset;
    (void)ByteCount;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *pCopy) {
    SIM_CALL(cuMemcpy2D);
    (void)pCopy;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy) {
    SIM_CALL(cuMemcpy2DUnaligned);
    (void)pCopy;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    SIM_CALL(cuMemcpy2DAsync);
    (void)pCopy;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *pCopy) {
    SIM_CALL(cuMemcpy3D);
    (void)pCopy;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
    SIM_CALL(cuMemcpy3DAsync);
    (void)pCopy;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) {
    SIM_CALL(cuMemcpy3DPeer);
    (void)pCopy;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
    SIM_CALL(cuMemcpy3DPeerAsync);
    (void)pCopy;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode) {
    SIM_CALL(cuStreamBeginCapture);
    (void)hStream;
    (void)mode;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
    SIM_CALL(cuStreamEndCapture);
    (void)hStream;
    (void)phGraph;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
    SIM_CALL(cuStreamIsCapturing);
    (void)hStream;
    (void)captureStatus;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    SIM_CALL(cuThreadExchangeStreamCaptureMode);
    (void)mode;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
    SIM_CALL(cuGraphCreate);
    (void)phGraph;
    (void)flags;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    SIM_CALL(cuGraphClone);
    (void)phGraphClone;
    (void)originalGraph;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphDestroy(CUgraph hGraph) {
    SIM_CALL(cuGraphDestroy);
    (void)hGraph;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    SIM_CALL(cuGraphGetNodes);
    (void)hGraph;
    (void)nodes;
    (void)numNodes;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
    SIM_CALL(cuGraphNodeGetType);
    (void)hNode;
    (void)type;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags) {
    SIM_CALL(cuGraphDebugDotPrint);
    (void)hGraph;
    (void)path;
    (void)flags;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags) {
    SIM_CALL(cuGraphInstantiateWithFlags);
    (void)phGraphExec;
    (void)hGraph;
    (void)flags;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    SIM_CALL(cuGraphUpload);
    (void)hGraphExec;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    SIM_CALL(cuGraphLaunch);
    (void)hGraphExec;
    (void)hStream;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    SIM_CALL(cuGraphExecDestroy);
    (void)hGraphExec;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo) {
    SIM_CALL(cuGraphExecUpdate);
    (void)hGraphExec;
    (void)hGraph;
    (void)resultInfo;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    SIM_CALL(cuArrayCreate);
    (void)pHandle;
    (void)pAllocateArray;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    SIM_CALL(cuArrayGetDescriptor);
    (void)pArrayDescriptor;
    (void)hArray;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    SIM_CALL(cuArray3DCreate);
    (void)pHandle;
    (void)pAllocateArray;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    SIM_CALL(cuArray3DGetDescriptor);
    (void)pArrayDescriptor;
    (void)hArray;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuArrayDestroy(CUarray hArray) {
    SIM_CALL(cuArrayDestroy);
    (void)hArray;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    SIM_CALL(cuTexObjectCreate);
    (void)pTexObject;
    (void)pResDesc;
    (void)pTexDesc;
    (void)pResViewDesc;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
    SIM_CALL(cuTexObjectDestroy);
    (void)texObject;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
    SIM_CALL(cuTexObjectGetResourceDesc);
    (void)pResDesc;
    (void)texObject;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject) {
    SIM_CALL(cuTexObjectGetTextureDesc);
    (void)pTexDesc;
    (void)texObject;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
    SIM_CALL(cuSurfObjectCreate);
    (void)pSurfObject;
    (void)pResDesc;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
    SIM_CALL(cuSurfObjectDestroy);
    (void)surfObject;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
    SIM_CALL(cuSurfObjectGetResourceDesc);
    (void)pResDesc;
    (void)surfObject;
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "not there yet");
}


CUresult sim_capture_forbid(SimContext *context, const char *what) { (void)context; (void)what; return CUDA_SUCCESS; }
CUresult sim_capture_forbid_stream(SimStream *stream, const char *what) { (void)stream; (void)what; return CUDA_SUCCESS; }
CUresult sim_capture_work(SimStream *stream, SimWork *work) { (void)stream; sim_work_clear(work); return CUDA_ERROR_NOT_SUPPORTED; }
CUresult sim_capture_record(SimStream *stream, SimCaptured **out) { (void)stream; *out = NULL; return CUDA_SUCCESS; }
CUresult sim_capture_join(SimStream *stream, SimCaptured *captured) { (void)stream; (void)captured; return CUDA_ERROR_NOT_SUPPORTED; }
CUresult sim_capture_spoil(SimStream *stream, CUresult status, const char *text) { (void)stream; (void)text; return status; }
void sim_captured_keep(SimCaptured *captured) { (void)captured; }
void sim_captured_drop(SimCaptured *captured) { (void)captured; }
void sim_program_keep(SimProgram *program) { (void)program; }
void sim_program_drop(SimProgram *program) { (void)program; }
CUresult sim_program_run(SimProgram *program, SimContext *context, SimError *error) { (void)program; (void)context; (void)error; return CUDA_SUCCESS; }
void sim_pool_charge(SimPool *pool, size_t size, bool freed) { (void)pool; (void)size; (void)freed; }
CUresult sim_device_pool(CUdevice device, bool current, SimPool **out) { (void)device; (void)current; *out = NULL; return CUDA_ERROR_NOT_SUPPORTED; }
