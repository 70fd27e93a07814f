// Runs the kernels for Java's tests on the CPU: the equivalent of cuLaunchKernel, over the shim. A
// failed check throws a Java exception. ShimLibrary.java is the Java side. KVASIR_TEST_DEVICE=ptx
// runs their PTX instead: ptx_launches.hpp.

#include <jni.h>

#include "shim_kernels.hpp"

namespace {

constexpr jint kInvalidDeviceFunction = 98;  // CUDA_ERROR_INVALID_DEVICE_FUNCTION

void throw_assertion_error(JNIEnv* env, const char* message) {
  jclass type = env->FindClass("java/lang/AssertionError");
  jmethodID constructor = env->GetMethodID(type, "<init>", "(Ljava/lang/Object;)V");
  jstring text = env->NewStringUTF(message);
  env->Throw(static_cast<jthrowable>(env->NewObject(type, constructor, text)));
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Java_io_kvasir_engine_device_ShimLibrary_launch(
    JNIEnv* env, jclass, jstring name, jint blocks, jint threads, jlong parameters) {
  const char* text = env->GetStringUTFChars(name, nullptr);
  const Kernel* kernel = find(text);
  env->ReleaseStringUTFChars(name, text);
  if (kernel == nullptr) {
    return kInvalidDeviceFunction;
  }
  const char* failure =
      carry_out(prepare(*kernel, static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads),
                        reinterpret_cast<void**>(parameters)));
  if (failure != nullptr) {
    throw_assertion_error(env, failure);
  }
  return 0;
}

extern "C" JNIEXPORT void JNICALL Java_io_kvasir_engine_device_ShimLibrary_seed(JNIEnv*, jclass,
                                                                                jlong seed) {
  seed_launches(static_cast<uint64_t>(seed));
}

extern "C" JNIEXPORT jobjectArray JNICALL
Java_io_kvasir_engine_device_ShimLibrary_kernels(JNIEnv* env, jclass) {
  constexpr jsize count = sizeof kKernels / sizeof kKernels[0];
  jobjectArray names = env->NewObjectArray(count, env->FindClass("java/lang/String"), nullptr);
  for (jsize i = 0; i < count; i++) {
    env->SetObjectArrayElement(names, i, env->NewStringUTF(kKernels[i].name));
  }
  return names;
}
