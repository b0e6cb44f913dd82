// y = a + b, the body that every instruction set shares. Elements in parallel; bound by memory.
#ifndef DENSE_KERNELS_CPU_BODY_ADD_H
#define DENSE_KERNELS_CPU_BODY_ADD_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/add.h"
#include "dense_kernels/cpu/lanes.h"

namespace {

constexpr int64_t kAddGrain = 16384;  // elements; below that a second thread costs more than it saves

template <typename T>
void add_range(void* argument, int64_t begin, int64_t end) {
  const AddParams* p = static_cast<const AddParams*>(argument);
  const T* a = static_cast<const T*>(p->a);
  const T* b = static_cast<const T*>(p->b);
  T* y = static_cast<T*>(p->y);
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) store(y + i, load(a + i) + load(b + i));
  const int rest = static_cast<int>(end - i);
  if (rest > 0) store_some(y + i, load_some(a + i, rest) + load_some(b + i, rest), rest);
}

template <typename T>
void add(const AddParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  context->parallel_for(context, p->count, kAddGrain, add_range<T>, const_cast<AddParams*>(p));
}

}  // namespace

#endif
