// Sampling, the body that every instruction set shares.
//
// Rows in parallel, each alone: its id depends on its logits, parameters, seed and position only.
// Per row: one pass for the maximum, one or two with an exponential, and for top-k and top-p three
// passes of which all but the first see few ids.
#ifndef DENSE_KERNELS_CPU_BODY_SAMPLING_H
#define DENSE_KERNELS_CPU_BODY_SAMPLING_H

#include "candidates.h"
#include "cuda_runtime/abi.h"
#include "dense_kernels/random/philox.h"
#include "dense_kernels/sampling.h"
#include "log_softmax.h"

namespace {

struct RowSettings {
  float temperature;
  int32_t top_k;
  float top_p;
  float min_p;
};

// The lowest id among the largest logits.
inline int argmax(const float* logits, int vocab, float largest) {
  int id = 0;
  while (id < vocab - 1 && !(safe_logit(logits[id]) == largest)) ++id;
  return id;
}

// Weights of all ids, and the mask of those that cannot be drawn as weight 0.
inline void weigh(const float* logits, int vocab, float largest, float temperature, float* weights) {
  const Floats none = splat(-__builtin_inff());
  for (int i = 0; i < vocab; i += kLanes) {
    const int count = vocab - i < kLanes ? vocab - i : kLanes;
    const Floats below = load_logits(logits + i, count) - splat(largest);
    Floats scaled = below / splat(temperature);
    // -inf / inf is NaN: an impossible id stays impossible at any temperature
    for (int part = 0; part < kParts; ++part) {
      scaled.part[part] = below.part[part] == none.part[part] ? none.part[part] : scaled.part[part];
    }
    if (count == kLanes) {
      store(weights + i, exp(scaled));
    } else {
      store_some(weights + i, exp(scaled), count);
    }
  }
}

inline void gather_possible(Candidates& list, int vocab) {
  int kept = 0;
  for (int id = 0; id < vocab; ++id) {
    const float weight = list.weights[id];
    list.ids[kept] = id;
    list.weights[kept] = weight;
    kept += weight > 0.0f;
  }
  list.count = kept;
}

// Temperature, top-k, top-p, min-p, in this order, then the draw by ascending id.
inline int draw(Candidates& list, int vocab, float largest, const RowSettings& row, double unit) {
  weigh(list.logits, vocab, largest, row.temperature, list.weights);
  const bool by_k = row.top_k > 0 && row.top_k < vocab;
  const bool by_p = row.top_p < 1.0f;
  const bool by_min = row.min_p > 0.0f;
  if (!by_k && !by_p && !by_min) return inverse_cdf(list.weights, vocab, unit);
  gather_possible(list, vocab);
  if (by_k && row.top_k < list.count) keep_best<false>(list, row.top_k);
  if (by_p) {
    const double share = row.top_p > 0.0f ? row.top_p : 0.0;
    keep_best<true>(list, share * total_weight(list.weights, list.count));
  }
  if (by_min) keep_weights_from(list, row.min_p < 1.0f ? row.min_p : 1.0f);
  return list.ids[inverse_cdf(list.weights, list.count, unit)];
}

inline void sample_row(const SamplingParams* p, int64_t row, int64_t slot) {
  int32_t* id_out = static_cast<int32_t*>(p->ids) + row;
  float* logprob_out = static_cast<float*>(p->logprobs) + row;
  const int32_t position = static_cast<const int32_t*>(p->positions)[row];
  if (position < 0) {
    *id_out = -1;
    *logprob_out = 0.0f;
    return;
  }
  const float* logits = static_cast<const float*>(p->logits) + row * p->logits_stride;
  const float largest = largest_logit(logits, p->vocab);
  if (!(largest >= -kLargestFloat)) {
    *id_out = 0;
    *logprob_out = __builtin_nanf("");
    return;
  }
  const RowSettings settings{
      static_cast<const float*>(p->temperature)[row], static_cast<const int32_t*>(p->top_k)[row],
      static_cast<const float*>(p->top_p)[row], static_cast<const float*>(p->min_p)[row]};
  int id;
  if (settings.temperature > 0.0f) {
    const uint64_t seed = static_cast<const uint64_t*>(p->seeds)[row];
    const PhiloxBlock block = philox({{static_cast<uint32_t>(position), 0, 0, 0}}, seed);
    char* scratch = static_cast<char*>(p->workspace) + slot * p->vocab * 8;
    Candidates list{logits, reinterpret_cast<int32_t*>(scratch),
                    reinterpret_cast<float*>(scratch + int64_t{4} * p->vocab), 0};
    id = draw(list, p->vocab, largest, settings, philox_unit(block));
  } else {
    id = argmax(logits, p->vocab, largest);
  }
  *id_out = id;
  *logprob_out = log_probability(logits[id], largest, log_of_sum(logits, p->vocab, largest));
}

inline void sample_slots(void* argument, int64_t begin, int64_t end) {
  const SamplingParams* p = static_cast<const SamplingParams*>(argument);
  for (int64_t slot = begin; slot < end; ++slot) {
    for (int64_t row = slot; row < p->rows; row += p->slots) sample_row(p, row, slot);
  }
}

inline void sample(const SamplingParams* p, const CpuContext* context) {
  context->parallel_for(context, p->slots, 1, sample_slots, const_cast<SamplingParams*>(p));
}

}  // namespace

#endif
