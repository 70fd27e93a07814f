// The product's kernels and the one of the stamp engine, in one module: tests/gpu/run puts it in
// front of the product's for the tests that use that engine.

#include "../../../../native/src/cuda/kernels.cu"
#include "../../../native/kv_stamp.cu"
