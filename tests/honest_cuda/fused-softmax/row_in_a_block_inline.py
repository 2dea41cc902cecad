"""A row a block of threads, in CUDA C++ built by torch's extension loader."""

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

constexpr int THREADS = 256;

template <typename T>
__device__ T together(T mine, T* shared, bool largest) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      T other = shared[threadIdx.x + half];
      T own = shared[threadIdx.x];
      shared[threadIdx.x] = largest ? (own > other ? own : other) : own + other;
    }
    __syncthreads();
  }
  T found = shared[0];
  __syncthreads();
  return found;
}

template <typename T>
__global__ void rows(const T* x, T* out, long rows_, long cols, long row_step, long col_step) {
  __shared__ float shared[THREADS];
  const T* row = x + (long)blockIdx.x * row_step;
  float most = -INFINITY;
  for (long j = threadIdx.x; j < cols; j += THREADS) {
    float value = static_cast<float>(row[j * col_step]);
    most = value > most ? value : most;
  }
  most = together(most, shared, true);
  float total = 0;
  for (long j = threadIdx.x; j < cols; j += THREADS) {
    total += expf(static_cast<float>(row[j * col_step]) - most);
  }
  total = together(total, shared, false);
  for (long j = threadIdx.x; j < cols; j += THREADS) {
    float value = expf(static_cast<float>(row[j * col_step]) - most) / total;
    out[(long)blockIdx.x * cols + j] = static_cast<T>(value);
  }
}

torch::Tensor softmax_rows(torch::Tensor x) {
  auto out = torch::empty({x.size(0), x.size(1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "rows", [&] {
        rows<scalar_t><<<x.size(0), THREADS>>>(
            x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.size(0), x.size(1), x.stride(0),
            x.stride(1));
      });
  return out;
}
"""

built = load_inline(
    "softmax_rows",
    cpp_sources="torch::Tensor softmax_rows(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["softmax_rows"],
)


def fused_softmax(x):
    return built.softmax_rows(x)
