// What a warp of an NVIDIA GPU (compute capability 8 or more) does in one instruction.

typedef unsigned short half16;
extern __shared__ uint4 memory[];
constexpr unsigned ONES = 0x3c003c00u;  // two halves that are 1

__device__ __forceinline__ void synchronize() { __syncthreads(); }

__device__ __forceinline__ float shuffle(float value, int far) {
    return __shfl_xor_sync(0xffffffffu, value, far);
}

__device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

__device__ __forceinline__ float2 unpack(unsigned both) {
    float2 value;
    asm("{.reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
        : "=f"(value.x), "=f"(value.y) : "r"(both));
    return value;
}

// c += a @ b: 16 x 16 by 16 x 8.
__device__ __forceinline__ void multiply(
    float (&c)[4], const unsigned* a, unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The transposed 8 x 8 matrix.
__device__ __forceinline__ unsigned transpose(unsigned a) {
    unsigned d;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(a));
    return d;
}

// Four 8 x 8 matrices; each eight threads say where the rows of one of them begin.
__device__ __forceinline__ void load_blocks(unsigned (&b)[4], const half16* row) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(at) : "memory");
}

__device__ __forceinline__ void load_blocks_transposed(unsigned (&b)[4], const half16* row) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(at) : "memory");
}

// Bring a line of memory into the second-level cache.
__device__ __forceinline__ void prefetch(const void* from) {
    asm volatile("prefetch.global.L2 [%0];" :: "l"(from));
}

// Read and write what is not needed again soon.
__device__ __forceinline__ float4 stream_in(const float* from) {
    return __ldcs(reinterpret_cast<const float4*>(from));
}

__device__ __forceinline__ void stream_out(float* to, const float4& value) {
    __stcs(reinterpret_cast<float4*>(to), value);
}
