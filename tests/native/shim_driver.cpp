// Runs the kernels for Java's tests, on the CPU: what cuLaunchKernel does, by name and with the
// same array of parameter addresses, over the shim. ShimLibrary.java is the other side.
//
// The shim's scheduler runs on the calling thread; one launch at a time. A check that fails, on a
// fiber or outside, jumps back to the launch, which throws it into Java. The scheduler is then made
// anew; the stacks of its fibers are lost.

#include <jni.h>

#include <mutex>
#include <string>
#include <utility>

#include "cuda_shim.hpp"

// The kernels themselves; the shim must come before them.
#include "../../native/src/cuda/kernels.cu"

// Not a kernel of the module: lanes come to different primitives, which a device may hang on.
extern "C" __global__ void shim_diverging_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

namespace {

template <typename... Types, size_t... i>
void launch_with(void (*kernel)(Types...), uint32_t blocks, uint32_t threads,
                 [[maybe_unused]] void** parameters, std::index_sequence<i...>) {
  shim::launch(kernel, blocks, threads, *static_cast<Types*>(parameters[i])...);
}

template <typename... Types>
void launch_with(void (*kernel)(Types...), uint32_t blocks, uint32_t threads, void** parameters) {
  launch_with(kernel, blocks, threads, parameters, std::index_sequence_for<Types...>());
}

template <auto kernel>
void launch(uint32_t blocks, uint32_t threads, void** parameters) {
  launch_with(kernel, blocks, threads, parameters);
}

struct Kernel {
  const char* name;
  void (*launch)(uint32_t blocks, uint32_t threads, void** parameters);
};

template <auto kernel>
Kernel entry(const char* name) {
  return {name, launch<kernel>};
}

#define KERNEL(name) entry<&name>(#name)

// clang-format off
const Kernel kKernels[] = {
    KERNEL(kvasir_hash_chain),
    KERNEL(kvasir_hash_local),
    KERNEL(kvasir_kv_stamp),
    KERNEL(kvasir_module_abi),
    KERNEL(kvasir_pool_clear),
    KERNEL(kvasir_pool_commit_check),
    KERNEL(kvasir_pool_commit_claim),
    KERNEL(kvasir_pool_commit_finish),
    KERNEL(kvasir_pool_commit_name),
    KERNEL(kvasir_pool_commit_plan),
    KERNEL(kvasir_pool_commit_sequential),
    KERNEL(kvasir_pool_extend_grow),
    KERNEL(kvasir_pool_extend_plan),
    KERNEL(kvasir_pool_initialise),
    KERNEL(kvasir_pool_lease_admit),
    KERNEL(kvasir_pool_lease_match),
    KERNEL(kvasir_pool_lease_plan),
    KERNEL(kvasir_pool_lease_unpin),
    KERNEL(kvasir_pool_occupancy),
    KERNEL(kvasir_pool_release_drop),
    KERNEL(kvasir_pool_release_plan),
    KERNEL(kvasir_pool_removed_events),
    KERNEL(kvasir_pool_select),
    KERNEL(kvasir_pool_take_victims),
    KERNEL(kvasir_probe),
    KERNEL(shim_diverging_kernel),
};
// clang-format on

constexpr jint kInvalidDeviceFunction = 98;  // CUDA_ERROR_INVALID_DEVICE_FUNCTION

std::mutex one_launch;
jmp_buf launch_frame;
char failed_check[512];

void jump_back(const char* message) {
  std::strncpy(failed_check, message, sizeof failed_check - 1);
  _longjmp(launch_frame, 1);
}

// False if a check failed. What the jump leaves behind is the launch's few words of heap.
bool launched(const Kernel& kernel, uint32_t blocks, uint32_t threads, void** parameters) {
  if (_setjmp(launch_frame) != 0) {
    return false;
  }
  kernel.launch(blocks, threads, parameters);
  return true;
}

void throw_assertion_error(JNIEnv* env, const char* message) {
  jclass type = env->FindClass("java/lang/AssertionError");
  jmethodID constructor = env->GetMethodID(type, "<init>", "(Ljava/lang/Object;)V");
  jstring text = env->NewStringUTF(message);
  env->Throw(static_cast<jthrowable>(env->NewObject(type, constructor, text)));
}

const Kernel* find(const std::string& name) {
  for (const Kernel& kernel : kKernels) {
    if (name == kernel.name) {
      return &kernel;
    }
  }
  return nullptr;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Java_io_kvasir_device_ShimLibrary_launch(
    JNIEnv* env, jclass, jstring name, jint blocks, jint threads, jlong parameters) {
  const char* text = env->GetStringUTFChars(name, nullptr);
  const Kernel* kernel = find(text);
  env->ReleaseStringUTFChars(name, text);
  if (kernel == nullptr) {
    return kInvalidDeviceFunction;
  }
  const std::lock_guard<std::mutex> lock(one_launch);
  g_on_failed_check = jump_back;
  if (!launched(*kernel, static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads),
                reinterpret_cast<void**>(parameters))) {
    shim::Scheduler::get() = shim::Scheduler();
    throw_assertion_error(env, failed_check);
  }
  return 0;
}

extern "C" JNIEXPORT void JNICALL Java_io_kvasir_device_ShimLibrary_seed(JNIEnv*, jclass,
                                                                         jlong seed) {
  const std::lock_guard<std::mutex> lock(one_launch);
  g_seed = static_cast<uint64_t>(seed);
  shim::Scheduler::get().seed(g_seed);
}

extern "C" JNIEXPORT jobjectArray JNICALL Java_io_kvasir_device_ShimLibrary_kernels(JNIEnv* env,
                                                                                    jclass) {
  constexpr jsize count = sizeof kKernels / sizeof kKernels[0];
  jobjectArray names = env->NewObjectArray(count, env->FindClass("java/lang/String"), nullptr);
  for (jsize i = 0; i < count; i++) {
    env->SetObjectArrayElement(names, i, env->NewStringUTF(kKernels[i].name));
  }
  return names;
}
