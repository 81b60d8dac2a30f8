// Warps of a GPU on a CPU: every thread is a coroutine, and threads wait for each other where a
// warp or a block does something together. Replaces src/rinn/nets/warp.cu in tests.

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#define __device__
#define __global__
#define __launch_bounds__(...)

using std::isfinite;
using std::max;
using std::min;
typedef unsigned short half16;
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct Index { int x; };
static Index threadIdx, blockIdx, gridDim, blockDim;
static uint4 memory[16384];
constexpr unsigned ONES = 0x3c003c00u;
static float fast_exp(float z) { return std::exp(z); }
static float fast_log(float z) { return std::log(z); }
static float rsqrtf(float z) { return 1.0f / std::sqrt(z); }

struct Meeting { int arrived = 0, round = 0; };
static Meeting* awaited[1024];  // by thread: what it waits for, and until which round has passed
static int rounds[1024];
static std::vector<ucontext_t> starts;  // of the threads; from then on they jump, which is faster
static jmp_buf jumps[1024], scheduler;
static std::vector<char> is_started, is_done;
static Meeting block_meeting, warp_meetings[32];
static unsigned given[1024][8], taken[1024][4];  // by thread

template <class Work>
static void meet(Meeting& meeting, int members, Work work) {
    const int round = meeting.round, me = threadIdx.x;
    if (++meeting.arrived == members) {
        work();
        meeting.arrived = 0, ++meeting.round;
    }
    if (meeting.round != round) return;
    awaited[me] = &meeting, rounds[me] = round;
    if (!_setjmp(jumps[me])) _longjmp(scheduler, 1);
}

// All threads of a warp give `count` words; the last one does the work for all of them.
template <class Work>
static void together(const unsigned* words, int count, Work work) {
    const int me = threadIdx.x, warp = me / 32;
    std::copy(words, words + count, given[me]);
    meet(warp_meetings[warp], 32, [&] { work(given + 32 * warp, taken + 32 * warp); });
}

static void synchronize() { meet(block_meeting, static_cast<int>(starts.size()), [] {}); }

static float as_float(half16 bits) { _Float16 h; std::memcpy(&h, &bits, 2); return h; }
static half16 as_half(float value) {
    _Float16 h = value;
    half16 bits;
    std::memcpy(&bits, &h, 2);
    return bits;
}
static unsigned pack(float low, float high) { return as_half(low) | unsigned(as_half(high)) << 16; }
static float part(unsigned word, int which) { return as_float(half16(word >> 16 * which)); }
static float2 unpack(unsigned both) { return {part(both, 0), part(both, 1)}; }

static float shuffle(float value, int far) {
    unsigned word;
    std::memcpy(&word, &value, 4);
    together(&word, 1, [&](unsigned (*in)[8], unsigned (*out)[4]) {
        for (int lane = 0; lane < 32; ++lane) out[lane][0] = in[lane ^ far][0];
    });
    std::memcpy(&value, taken[threadIdx.x], 4);
    return value;
}

static void multiply(float (&c)[4], const unsigned* a, unsigned b0, unsigned b1) {
    const unsigned words[6] = {a[0], a[1], a[2], a[3], b0, b1};
    together(words, 6, [](unsigned (*in)[8], unsigned (*out)[4]) {
        float left[16][16], right[16][8];
        for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 12; ++i) {
                const int word = i / 2, row = lane / 4, column = 2 * (lane % 4) + i % 2;
                const float value = part(in[lane][word], i % 2);
                if (word < 4) left[row + word % 2 * 8][column + word / 2 * 8] = value;
                else right[column + (word - 4) * 8][row] = value;
            }
        for (int lane = 0; lane < 32; ++lane)
            for (int r = 0; r < 4; ++r) {
                float sum = 0.0f;
                for (int k = 0; k < 16; ++k)
                    sum += left[lane / 4 + r / 2 * 8][k] * right[k][2 * (lane % 4) + r % 2];
                std::memcpy(&out[lane][r], &sum, 4);
            }
    });
    float sums[4];
    std::memcpy(sums, taken[threadIdx.x], 16);
    for (int r = 0; r < 4; ++r) c[r] += sums[r];
}

static void prefetch(const void*) {}
static float4 stream_in(const float* from) { return *reinterpret_cast<const float4*>(from); }
static void stream_out(float* to, const float4& value) { *reinterpret_cast<float4*>(to) = value; }

static half16 half_of(unsigned (*in)[8], int row, int column) {
    return half16(in[4 * row + column / 2][0] >> 16 * (column % 2));
}

static unsigned transpose(unsigned a) {
    together(&a, 1, [](unsigned (*in)[8], unsigned (*out)[4]) {
        for (int lane = 0; lane < 32; ++lane) {
            const int row = lane / 4, column = 2 * (lane % 4);
            out[lane][0] =
                half_of(in, column, row) | unsigned(half_of(in, column + 1, row)) << 16;
        }
    });
    return taken[threadIdx.x][0];
}

static void load(unsigned (&b)[4], const half16* row, bool turn) {
    unsigned words[2];
    std::memcpy(words, &row, sizeof row);
    together(words, 2, [turn](unsigned (*in)[8], unsigned (*out)[4]) {
        for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 4; ++i) {
                half16 both[2];
                for (int r = 0; r < 2; ++r) {
                    const int along = lane / 4, across = 2 * (lane % 4) + r;
                    const half16* at;
                    std::memcpy(&at, in[8 * i + (turn ? across : along)], sizeof at);
                    both[r] = at[turn ? along : across];
                }
                out[lane][i] = both[0] | unsigned(both[1]) << 16;
            }
    });
    std::copy(taken[threadIdx.x], taken[threadIdx.x] + 4, b);
}
static void load_blocks(unsigned (&b)[4], const half16* row) { load(b, row, false); }
static void load_blocks_transposed(unsigned (&b)[4], const half16* row) { load(b, row, true); }

// Returns how many bytes of shared memory were used, up to the last one.
template <class Kernel>
static int run_blocks(int blocks, int size, Kernel kernel) {
    static Kernel* work;
    work = &kernel;
    int used = 0;
    gridDim.x = blocks, blockDim.x = size;
    static std::vector<std::vector<char>> stacks;
    stacks.resize(size, std::vector<char>(1 << 18));
    static int i, left;  // jumps would lose local ones
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        starts.assign(size, {});
        is_started.assign(size, 0), is_done.assign(size, 0);
        std::fill(awaited, awaited + size, nullptr);
        std::memset(memory, 0x7f, sizeof memory);  // what a kernel may not count on
        for (i = 0; i < size; ++i) {
            getcontext(&starts[i]);
            starts[i].uc_stack.ss_sp = stacks[i].data();
            starts[i].uc_stack.ss_size = stacks[i].size();
            makecontext(&starts[i], +[] {
                (*work)();
                is_done[threadIdx.x] = 1;
                _longjmp(scheduler, 1);
            }, 0);
        }
        for (left = size; left > 0;)
            for (i = 0; i < size; ++i)
                if (!is_done[i] && !(awaited[i] && awaited[i]->round == rounds[i])) {
                    threadIdx.x = i;
                    if (!_setjmp(scheduler)) {
                        if (is_started[i]) _longjmp(jumps[i], 1);
                        is_started[i] = 1;
                        setcontext(&starts[i]);
                    }
                    left -= is_done[i];
                }
        const char* bytes = reinterpret_cast<const char*>(memory);
        for (int at = used; at < static_cast<int>(sizeof memory); ++at)
            if (bytes[at] != 0x7f) used = at + 1;
    }
    return used;
}
