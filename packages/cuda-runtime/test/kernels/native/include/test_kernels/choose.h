/* y = (first ? a : b), negated and doubled if asked for. */
#ifndef TEST_KERNELS_CHOOSE_H
#define TEST_KERNELS_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* kernel test_choose ChooseParams block=1 */
typedef struct ChooseParams {
  int32_t* y;  /* w i32 [1] */
  bool negate; /* y = -y at last */
  int32_t a;   /* taken if `first` */
  int32_t b;   /* taken if not */
  bool first;  /* a or b */
  bool twice;  /* y = 2 y at last; no four bytes are left behind its offset */
} ChooseParams;

#endif
