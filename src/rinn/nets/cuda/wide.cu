// Networks with many inputs: each step is two kernels.
//
// `step_hidden_weights`, a block for each network, does what layers.cu does without inputs.
// `step_input_weights`, whose blocks take one layer of one network after another, reads and writes
// the weights from inputs once: it multiplies the deltas of the last batch by its inputs, updates
// the weights, and multiplies the inputs of the next batch by the new weights. Between them go the
// products of a layer one way and its deltas the other way, in one place of `hidden`. WIDE, the
// number of inputs, is a multiple of 16.

constexpr int WT = WIDE / 16;
constexpr int WIDE_LAYER = WT * HT * 2 * BLOCK;  // weights of a layer from inputs, behind WEIGHTS
constexpr int INPUT_THREADS = 32 * INPUT_WARPS;
constexpr long long ALL_WEIGHTS = WEIGHTS + LAYERS * WIDE_LAYER;

__device__ void load_halves(unsigned* a, const uint2* from) {
    const uint2 low = from[0], high = from[32];
    a[0] = low.x, a[1] = low.y, a[2] = high.x, a[3] = high.y;
}

// Fragments of the inputs of 16 samples, in halves of 8 columns.
extern "C" __global__ void __launch_bounds__(THREADS) gather(
    const uint4* x, const int* order, uint2* to) {
    const int lane = threadIdx.x % 32, tile = blockIdx.x;
    const int low = order[16 * tile + lane / 4], high = order[16 * tile + lane / 4 + 8];
    for (int k = threadIdx.x / 32; k < WT; k += WARPS) {
        unsigned a[4];
        load_rows(a, x, WIDE, low, high, 16 * k, lane);
        uint2* own = to + (static_cast<long long>(tile) * WT + k) * 64 + lane;
        own[0] = {a[0], a[1]}, own[32] = {a[2], a[3]};
    }
}

// Shared memory, and in memory the products of a network's layers with the inputs.
__device__ Shared divide_wide_memory(uint4* hidden, int tiles, int batch) {
    const int size = LAYERS * tiles * HT * 32;
    Shared shared = divide_memory(batch / 16);
    shared.hidden = hidden + static_cast<long long>(blockIdx.x) * size;
    for (int i = threadIdx.x * 8; i < size; i += THREADS * 8) prefetch(shared.hidden + i);
    return shared;
}

// One step but for the weights from inputs.
extern "C" __global__ void __launch_bounds__(THREADS) step_hidden_weights(
    const float* y, const int* order, const Rates* rates, const Sizes* sizes, Losses* all_losses,
    const Counts* all_counts, float* ws, float* means, float* squares, uint4* hidden,
    int used, int batch, int number) {
    const int net = blockIdx.x, tiles = batch / 16;
    const long long at = net * ALL_WEIGHTS;
    const Counts counts = all_counts[net];
    if (counts.status != RUNNING) return;
    const Rates rate = rates[net];
    const Sizes size = sizes[net];
    const Shared shared = divide_wide_memory(hidden, tiles, batch);
    share_weights(shared, size, ws + at);
    const float total = take_step(
        shared, rate, size, find_step(rate, size, counts, number, batch),
        {nullptr, y, 0}, order + size.split * used + number * batch, tiles, ws + at, means + at,
        squares + at);
    const float loss = add_block(total, shared.sums) / (used * REAL_OUTPUTS);
    if (threadIdx.x == 0)
        all_losses[net].train = number == 0 ? loss : all_losses[net].train + loss;
}

struct Layer {  // its weights from inputs, in blocks of 16 nodes x 8 inputs
    float *w, *mean, *square;
};

__device__ Layer find_layer(int layer, float* ws, float* means, float* squares) {
    const long long at = layer / LAYERS * ALL_WEIGHTS + WEIGHTS + layer % LAYERS * WIDE_LAYER;
    return {ws + at, means + at, squares + at};
}

// Where the weights of a thread are: 8 inputs, and 16 nodes.
__device__ int find_weights(int item, int r) {
    return ((item / 2 * HT + r) * 2 + item % 2) * BLOCK + threadIdx.x % 32 * 4;
}

__device__ bool has_weights(int r, const Sizes& size) {
    return 16 * r + static_cast<int>(threadIdx.x % 32 / 4) < size.width;
}

__device__ void prefetch_weights(const Layer& layer, int item, const Sizes& size, bool moves) {
    if (item >= 2 * WT || threadIdx.x % 8) return;
    #pragma unroll
    for (int r = 0; r < HT; ++r) {
        const int at = find_weights(item, r);
        if (!has_weights(r, size)) continue;
        prefetch(layer.w + at);
        if (moves) prefetch(layer.mean + at), prefetch(layer.square + at);
    }
}

// Weights of R x 16 nodes from 8 inputs: what they are after the last batch, if there is any, put
// where `multiply_inputs` reads them. Returns their penalty instead if there is none.
template <int R>
__device__ float update_weights(
    const Layer& layer, const uint2* x, const uint4* deltas, uint2* weights, const Rates& rate,
    const Sizes& size, const Step& step, int tiles, int item, int first) {
    const int lane = threadIdx.x % 32;
    float4 w[R] = {}, m[R] = {}, s[R] = {};
    #pragma unroll
    for (int r = 0; r < R; ++r) {
        const int at = find_weights(item, first + r);
        if (!has_weights(first + r, size)) continue;
        w[r] = stream_in(layer.w + at);
        if (!tiles) continue;
        m[r] = stream_in(layer.mean + at);
        s[r] = stream_in(layer.square + at);
    }
    prefetch_weights(layer, item + INPUT_WARPS, size, tiles);
    float gradient[R][4] = {}, penalty = 0.0f;
    #pragma unroll 4
    for (int tile = 0; tile < tiles; ++tile) {
        unsigned d[4];
        const uint2 a = x[(tile * WT * 2 + item) * 32 + lane];
        const unsigned low = transpose(a.x), high = transpose(a.y);
        #pragma unroll
        for (int r = 0; r < R; ++r) {
            load_fragment(d, deltas[(tile * HT + first + r) * 32 + lane]);
            multiply(gradient[r], d, low, high);
        }
    }
    #pragma unroll
    for (int r = 0; r < R; ++r) {
        const int at = find_weights(item, first + r);
        if (!tiles) {
            penalty += penalise(step, w[r].x) + penalise(step, w[r].y) + penalise(step, w[r].z)
                + penalise(step, w[r].w);
        } else if (has_weights(first + r, size)) {
            const float4 sum = {gradient[r][0], gradient[r][1], gradient[r][2], gradient[r][3]};
            descend_all(w[r], sum, m[r], s[r], rate, step, false);
            stream_out(layer.w + at, w[r]);
            stream_out(layer.mean + at, m[r]);
            stream_out(layer.square + at, s[r]);
        }
        weights[(item / 2 * HT + first + r) * 64 + item % 2 * 32 + lane] = {
            pack(w[r].x, w[r].y), pack(w[r].z, w[r].w)};
    }
    return penalty;
}

// The products of all samples with a layer's weights; a warp works on T tiles at a time.
template <int T>
__device__ void multiply_inputs(const uint2* x, const uint2* weights, uint4* hidden, int tiles) {
    const int lane = threadIdx.x % 32;
    for (int tile = threadIdx.x / 32 * T; tile < tiles; tile += INPUT_WARPS * T) {
        float z[HT][T][2][4] = {};
        #pragma unroll 4
        for (int k = 0; k < WT; ++k) {
            unsigned a[T][4];
            #pragma unroll
            for (int t = 0; t < T; ++t) load_halves(a[t], x + ((tile + t) * WT + k) * 64 + lane);
            #pragma unroll
            for (int r = 0; r < HT; ++r) {
                unsigned b[4];
                load_halves(b, weights + (k * HT + r) * 64 + lane);
                #pragma unroll
                for (int t = 0; t < T; ++t) {
                    multiply(z[r][t][0], a[t], b[0], b[2]);
                    multiply(z[r][t][1], a[t], b[1], b[3]);
                }
            }
        }
        #pragma unroll
        for (int r = 0; r < HT; ++r)
            #pragma unroll
            for (int t = 0; t < T; ++t) {
                const auto& c = z[r][t];
                hidden[((tile + t) * HT + r) * 32 + lane] = {
                    pack(c[0][0], c[0][1]), pack(c[0][2], c[0][3]),
                    pack(c[1][0], c[1][1]), pack(c[1][2], c[1][3])};
            }
    }
}

// One layer: its weights from inputs after a batch of `last_tiles`, if any, and the next products.
__device__ void update_layer(
    const uint2* last, const uint2* next, const Rates& rate, const Sizes& size, const Step& step,
    const Layer& layer, uint4* hidden, float* penalty, int last_tiles, int next_tiles) {
    constexpr int WHOLE = 2 * WT / INPUT_WARPS * INPUT_WARPS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint2* weights = reinterpret_cast<uint2*>(memory);
    float* sums = reinterpret_cast<float*>(weights + WT * HT * 64);
    uint4* deltas = reinterpret_cast<uint4*>(sums + INPUT_WARPS);
    prefetch_weights(layer, warp, size, last_tiles);
    for (int item = warp; item < last_tiles * HT; item += INPUT_WARPS) {
        unsigned a[4], d[4];
        load_fragment(a, hidden[item * 32 + lane]);
        transpose_first(d, a);
        deltas[item * 32 + lane] = as_fragment(d);
    }
    synchronize();
    float cost = 0.0f;
    for (int item = warp; item < WHOLE; item += INPUT_WARPS)
        cost += update_weights<HT>(
            layer, last, deltas, weights, rate, size, step, last_tiles, item, 0);
    for (int job = warp; job < (2 * WT - WHOLE) * HT; job += INPUT_WARPS)  // the rest, shared out
        cost += update_weights<1>(layer, last, deltas, weights, rate, size, step, last_tiles,
                                WHOLE + job / HT, job % HT);
    cost = add_block(cost, sums);
    if (!last_tiles && threadIdx.x == 0) *penalty = cost;
    if (next_tiles % (2 * INPUT_WARPS)) multiply_inputs<1>(next, weights, hidden, next_tiles);
    else multiply_inputs<2>(next, weights, hidden, next_tiles);
}

// The weights of layers from inputs: their step of the optimiser after batch `number`, unless that
// is negative, and their products with the next samples. A block takes one layer of one network
// after another.
extern "C" __global__ void __launch_bounds__(INPUT_THREADS, 2) step_input_weights(
    const uint2* last, const uint2* next, const Rates* rates, const Sizes* sizes,
    const Counts* all_counts, float* ws, float* means, float* squares, uint4* hidden,
    float* penalties, int last_stride, int next_stride, int batch, int samples, int number,
    int layers) {
    for (int layer = blockIdx.x; layer < layers; layer += gridDim.x) {
        const int net = layer / LAYERS;
        const Counts counts = all_counts[net];
        if (counts.status != RUNNING) continue;
        const Rates rate = rates[net];
        const Sizes size = sizes[net];
        const Step step = find_step(rate, size, counts, max(number, 0), batch);
        const long long split = size.split, place = number < 0 ? samples : batch;
        update_layer(last + split * last_stride * WT * 64, next + split * next_stride * WT * 64,
                   rate, size, step, find_layer(layer, ws, means, squares),
                   hidden + layer * place * WIDTH / 8, penalties + layer,
                   number < 0 ? 0 : batch / 16, samples / 16);
        synchronize();
    }
}

// Validation on the samples from `first` on, whose products are there; at last the status.
extern "C" __global__ void __launch_bounds__(THREADS) validate_part(
    const float* held_y, const float* variance, const Rates* rates, const Sizes* sizes,
    Losses* all_losses, Counts* all_counts, const float* ws, uint4* hidden,
    const float* penalties, float* train_losses, float* validation_losses, int used, int batch,
    int samples, int held, int first) {
    const int net = blockIdx.x, tiles = samples / 16;
    const Sizes size = sizes[net];
    Losses losses = all_losses[net];
    Counts counts = all_counts[net];
    const bool is_last = first + samples >= held;
    if (counts.status == RUNNING) {
        const float* w = ws + net * ALL_WEIGHTS;
        const Shared shared = divide_wide_memory(hidden, tiles, batch);
        share_weights(shared, size, w);
        const Samples held_out = {nullptr, held_y + (size.split * held + first) * OUTPUTS, tiles};
        float loss, error, penalty = 0.0f;
        validate(shared, size, held_out, variance, min(samples, held - first), loss, error);
        losses.validation = (first ? losses.validation : 0.0f) + loss / (held * REAL_OUTPUTS);
        losses.error = (first ? losses.error : 0.0f) + error / (held * REAL_OUTPUTS);
        if (is_last) {
            for (int layer = 0; layer < LAYERS; ++layer) penalty += penalties[net * LAYERS + layer];
            const Step step = find_step(rates[net], size, counts, 0, batch);
            penalty += find_penalty(shared, step, w);
            counts.steps += used / batch;
            finish_epoch(losses, counts, rates[net], size, losses.validation + penalty);
        }
    }
    if (threadIdx.x) return;
    all_losses[net] = losses, all_counts[net] = counts;
    if (is_last) train_losses[net] = losses.train, validation_losses[net] = losses.validation;
}
