// test_condition on the CPU.
#include "test_kernels/condition.h"

extern "C" void test_condition(const ConditionParams* p, const CpuContext* context) {
  *p->counter -= 1;
  const int32_t left = *p->counter;
  context->set_conditional(context, p->condition, left > 0 ? static_cast<uint32_t>(left) : 0);
}
