// Many small redundant-input networks on one GPU: a block of warps trains one network.
//
// A block takes its network through all epochs of a segment: forward, backward and optimiser of
// every batch, validation and early stopping after every epoch. It ends at once where its network
// stops. Weights are kept twice: in single precision with the optimiser's moments in memory, and
// in half precision in shared memory, where the products read them. Products are those of tensor
// cores, half precision times half precision, summed in single precision; half precision has ten
// bits of mantissa, as TF32 has. Values above 65504 are infinite, and their network diverges.
//
// A warp works on TILE samples at a time. What it keeps of them between layers lies in fragments,
// the registers of its 32 threads as tensor cores want them, which no other thread reads: of the
// inputs, of each hidden layer (its values, and on the way back their slopes), of the outputs.
//
// The compiler is given the sizes: INPUTS, WIDTH and OUTPUTS are multiples of 16; REAL_INPUTS and
// REAL_OUTPUTS are columns of the tables; LAYERS, WARPS; TILES of 16 samples in a TILE; LOSS.

constexpr int IT = INPUTS / 16, HT = WIDTH / 16, OT = OUTPUTS / 16;  // 16 x 16 blocks
constexpr int TILE = 16 * TILES, THREADS = 32 * WARPS;
constexpr int READS = 2 * (IT + HT) + 1;      // blocks of 16 x 8 weights in 16 nodes of a layer
constexpr int LAST_READS = 2 * HT + 1;        // the same of 16 outputs; the last one is the bias
constexpr int BLOCK = 128;                    // weights in a block of 16 x 8
constexpr int LAYER = HT * READS * BLOCK;     // weights of a layer in memory
constexpr int WEIGHTS = LAYERS * LAYER + OT * LAST_READS * BLOCK;
constexpr int ROW = INPUTS + WIDTH + 8;       // of a node's weights in shared memory; 8 spread
constexpr int LAST_ROW = WIDTH + 8;           // rows over its banks
constexpr int MAX_READS = HT * READS > OT * LAST_READS ? HT * READS : OT * LAST_READS;
constexpr float GAIN = 16.0f;                 // of slopes, so that small ones keep their bits
constexpr float NO_THRESHOLD = 1e30f;
constexpr int MSE = 0;  // the other loss is the cross-entropy
enum { RELU, SIGMOID, TANH, SOFTPLUS };
enum { RUNNING, CONVERGED, EXHAUSTED, DIVERGED };

struct Rates {
    float learning_rate, l1, l2, tolerance, mcp_threshold, final_lr_factor;
    float mean_decay, mean_gain, square_decay, square_gain, floor, corrected;
    float start;  // of the mean squares, which the caller fills in
};
struct Sizes {
    int width, activation, epochs, patience, anneal_start, split;
};
struct Losses {
    float best, train, validation, error;
};
struct Counts {
    int steps, bad_epochs, epoch, status;
};
struct Samples {  // of all splits; rows of x are INPUTS halves, rows of y OUTPUTS floats
    const uint4* x;
    const float* y;
};
struct Step {  // what a step of the optimiser needs
    float pace, spread, floor, scale, l1, l2, mcp_slope;
};
struct Shared {  // where the parts of shared memory begin
    uint4 *hidden, *inputs, *slopes;
    float4* parts;
    float *bias, *last_bias, *sums;
    half16 *weights, *last_weights;
};

__device__ float bend(int activation, float z) {
    if (activation == RELU) return fmaxf(z, 0.0f);
    if (activation == SIGMOID) return 1.0f / (1.0f + __expf(-z));
    if (activation == TANH) return 2.0f / (1.0f + __expf(-2.0f * z)) - 1.0f;
    return fmaxf(z, 0.0f) + __logf(1.0f + __expf(-fabsf(z)));
}

__device__ float slope_of(int activation, float h) {  // from what `bend` gives
    if (activation == RELU) return h > 0.0f ? 1.0f : 0.0f;
    if (activation == SIGMOID) return h * (1.0f - h);
    if (activation == TANH) return 1.0f - h * h;
    return 1.0f - __expf(-h);
}

__device__ float add_warp(float value) {
    for (int far = 16; far > 0; far /= 2) value += shuffle(value, far);
    return value;
}

// The sum over the threads of a block, in all of them.
__device__ float add_block(float value, float* sums) {
    value = add_warp(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    synchronize();
    float total = 0.0f;
    for (int warp = 0; warp < WARPS; ++warp) total += sums[warp];
    synchronize();
    return total;
}

__device__ uint4 as_fragment(const unsigned* a) { return {a[0], a[1], a[2], a[3]}; }

__device__ void load_fragment(unsigned* a, const uint4& from) {
    a[0] = from.x, a[1] = from.y, a[2] = from.z, a[3] = from.w;
}

// The fragment of the transposed matrix: its second operand of a product.
__device__ void transpose_fragment(unsigned* to, const unsigned* a) {
    for (int i = 0; i < 4; ++i) to[i] = transpose(a[i]);
}

// The fragment of 16 samples x 16 columns from rows of INPUTS halves.
__device__ void load_rows(unsigned* a, const uint4* x, int low, int high, int column, int lane) {
    const unsigned* words = reinterpret_cast<const unsigned*>(x);
    const int at = column / 2 + lane % 4;
    a[0] = words[low * (INPUTS / 2) + at], a[1] = words[high * (INPUTS / 2) + at];
    a[2] = words[low * (INPUTS / 2) + at + 4], a[3] = words[high * (INPUTS / 2) + at + 4];
}

// c += a @ w.T for two blocks of 8 nodes: w are 16 rows of weights, 16 columns from the pointer on.
template <int T>
__device__ void multiply_weights(
    float (&c)[T][2][4], const unsigned (&a)[T][4], const half16* w, int row, int lane) {
    unsigned b[4];
    load_blocks(b, w + (lane % 8 + lane / 16 * 8) * row + lane / 8 % 2 * 8);
    for (int t = 0; t < T; ++t) {
        multiply(c[t][0], a[t], b[0], b[1]);
        multiply(c[t][1], a[t], b[2], b[3]);
    }
}

// Raw outputs of TILES x 16 samples from their fragments of inputs; keeps the hidden layers.
__device__ void predict(
    const Shared& shared, const Sizes& size, const unsigned (&x)[IT][TILES][4], uint4* keep,
    int stride, float (&raw)[OT][TILES][2][4], int lane) {
    unsigned h[HT][TILES][4];
    for (int layer = 0; layer < LAYERS; ++layer) {
        float z[HT][TILES][2][4];
        for (int i = 0; i < HT; ++i) {
            const half16* w = shared.weights + (layer * WIDTH + 16 * i) * ROW;
            for (int n = 0; n < 2; ++n) {
                const float2 bias = *reinterpret_cast<const float2*>(
                    shared.bias + layer * WIDTH + 16 * i + 8 * n + 2 * (lane % 4));
                for (int t = 0; t < TILES; ++t) {
                    z[i][t][n][0] = z[i][t][n][2] = bias.x;
                    z[i][t][n][1] = z[i][t][n][3] = bias.y;
                }
            }
            for (int k = 0; k < IT; ++k) multiply_weights(z[i], x[k], w + 16 * k, ROW, lane);
            for (int k = 0; layer > 0 && k < HT; ++k)
                multiply_weights(z[i], h[k], w + INPUTS + 16 * k, ROW, lane);
        }
        for (int i = 0; i < HT; ++i)
            for (int t = 0; t < TILES; ++t) {
                for (int n = 0; n < 2; ++n) {
                    const int node = 16 * i + 8 * n + 2 * (lane % 4);
                    float value[4];
                    for (int r = 0; r < 4; ++r)
                        value[r] = node + r % 2 < size.width
                            ? bend(size.activation, z[i][t][n][r]) : 0.0f;
                    h[i][t][2 * n] = pack(value[0], value[1]);
                    h[i][t][2 * n + 1] = pack(value[2], value[3]);
                }
                if (keep) keep[(layer * stride + t) * HT * 32 + i * 32] = as_fragment(h[i][t]);
            }
    }
    for (int o = 0; o < OT; ++o) {
        for (int n = 0; n < 2; ++n) {
            const float2 bias = *reinterpret_cast<const float2*>(
                shared.last_bias + 16 * o + 8 * n + 2 * (lane % 4));
            for (int t = 0; t < TILES; ++t) {
                raw[o][t][n][0] = raw[o][t][n][2] = bias.x;
                raw[o][t][n][1] = raw[o][t][n][3] = bias.y;
            }
        }
        for (int k = 0; k < HT; ++k)
            multiply_weights(
                raw[o], h[k], shared.last_weights + 16 * o * LAST_ROW + 16 * k, LAST_ROW, lane);
    }
}

// The loss of one output of one sample, and its slope.
__device__ float lose(float raw, float y, float& slope) {
    if (LOSS == MSE) {
        slope = 2.0f * (raw - y);
        return (raw - y) * (raw - y);
    }
    slope = 1.0f / (1.0f + __expf(-raw)) - y;
    return fmaxf(raw, 0.0f) + __logf(1.0f + __expf(-fabsf(raw))) - y * raw;
}

// Put 16 x 8 new weights of a thread's block where the products read them.
__device__ void share_block(
    const float4& w, half16* rows, int row, float* bias, bool is_bias, int column, int lane) {
    const int node = lane / 4, at = column + 2 * (lane % 4);
    if (is_bias) {
        if (lane % 4 == 0) bias[node] = w.x, bias[node + 8] = w.z;
        return;
    }
    *reinterpret_cast<unsigned*>(rows + node * row + at) = pack(w.x, w.y);
    *reinterpret_cast<unsigned*>(rows + (node + 8) * row + at) = pack(w.z, w.w);
}

__device__ float descend(
    float w, float gradient, float& mean, float& square, const Rates& rate, const Step& step,
    bool is_bias) {
    if (!is_bias) {
        const float sign = w > 0.0f ? 1.0f : w < 0.0f ? -1.0f : 0.0f;
        gradient += step.l1 * sign * fmaxf(1.0f - fabsf(w) * step.mcp_slope, 0.0f);
        gradient += 2.0f * step.l2 * w;
    }
    mean = rate.mean_gain * gradient + rate.mean_decay * mean;
    square = rate.square_gain * gradient * gradient + rate.square_decay * square;
    return w - step.pace * mean * rsqrtf(square * step.spread + step.floor);
}

// Back through one layer of R x 16 nodes, which reads X x 16 inputs and H x 16 nodes below it:
// slopes of the layer below, gradients, and a step of the layer's own weights.
template <int R, int X, int H>
__device__ void go_back(
    const Shared& shared, const Rates& rate, const Sizes& size, const Step& step, int tiles,
    const uint4* slopes, uint4* below, half16* rows, int row, float* bias, float* w, float* mean,
    float* square) {
    constexpr int N = 2 * (X + H) + 1, ALL = 2 * (X ? IT + HT : HT) + 1;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    {
        float gradient[R][N][4] = {};
        for (int tile = warp; tile < tiles; tile += WARPS) {
            unsigned read[X + H ? X + H : 1][4], a[4], b[4], d[4];
            for (int i = 0; i < X; ++i) {
                load_fragment(a, shared.inputs[(tile * IT + i) * 32 + lane]);
                transpose_fragment(read[i], a);
            }
            for (int i = 0; i < H; ++i) {
                load_fragment(a, below[(tile * HT + i) * 32 + lane]);
                transpose_fragment(read[X + i], a);
            }
            for (int r = 0; r < R; ++r) {
                load_fragment(a, slopes[(tile * R + r) * 32 + lane]);
                transpose_fragment(b, a);
                d[0] = b[0], d[1] = b[2], d[2] = b[1], d[3] = b[3];
                for (int i = 0; i < X + H; ++i) {
                    multiply(gradient[r][2 * i], d, read[i][0], read[i][1]);
                    multiply(gradient[r][2 * i + 1], d, read[i][2], read[i][3]);
                }
                multiply(gradient[r][N - 1], d, ONES, ONES);
            }
        }
        for (int r = 0; r < R; ++r)
            for (int i = 0; i < N; ++i)
                shared.parts[((r * N + i) * WARPS + warp) * 32 + lane] = {
                    gradient[r][i][0], gradient[r][i][1], gradient[r][i][2], gradient[r][i][3]};
    }
    for (int tile = warp; H && tile < tiles; tile += WARPS) {
        float d[H ? H : 1][2][4] = {};
        for (int r = 0; r < R; ++r) {
            unsigned a[4], b[4];
            load_fragment(a, slopes[(tile * R + r) * 32 + lane]);
            for (int i = 0; i < H; ++i) {
                const half16* block = rows + 16 * r * row + 16 * (X + i);
                load_blocks_transposed(
                    b, block + (lane % 8 + lane / 8 % 2 * 8) * row + lane / 16 * 8);
                multiply(d[i][0], a, b[0], b[1]);
                multiply(d[i][1], a, b[2], b[3]);
            }
        }
        for (int i = 0; i < H; ++i) {
            unsigned h[4];
            load_fragment(h, below[(tile * HT + i) * 32 + lane]);
            for (int n = 0; n < 4; ++n) {
                const float2 value = unpack(h[n]);
                const float* c = d[i][n / 2] + n % 2 * 2;
                h[n] = pack(c[0] * slope_of(size.activation, value.x),
                            c[1] * slope_of(size.activation, value.y));
            }
            below[(tile * HT + i) * 32 + lane] = as_fragment(h);
        }
    }
    synchronize();  // all parts of the gradient are there, and no warp reads these weights
    for (int item = warp; item < R * N; item += WARPS) {
        const int r = item / N, i = item % N;
        const bool is_bias = i == N - 1;
        const int at = (r * ALL + (is_bias ? ALL - 1 : i)) * BLOCK + 4 * lane;
        float4 own = *reinterpret_cast<float4*>(w + at);
        float4 m = *reinterpret_cast<float4*>(mean + at);
        float4 s = *reinterpret_cast<float4*>(square + at);
        float4 sum = {};
        for (int part = 0; part < WARPS; ++part) {
            const float4 p = shared.parts[(item * WARPS + part) * 32 + lane];
            sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
        }
        own.x = descend(own.x, sum.x * step.scale, m.x, s.x, rate, step, is_bias);
        own.y = descend(own.y, sum.y * step.scale, m.y, s.y, rate, step, is_bias);
        own.z = descend(own.z, sum.z * step.scale, m.z, s.z, rate, step, is_bias);
        own.w = descend(own.w, sum.w * step.scale, m.w, s.w, rate, step, is_bias);
        *reinterpret_cast<float4*>(w + at) = own;
        *reinterpret_cast<float4*>(mean + at) = m;
        *reinterpret_cast<float4*>(square + at) = s;
        share_block(own, rows + 16 * r * row, row, bias + 16 * r, is_bias, 8 * i, lane);
    }
    synchronize();  // the parts may be written again, and the weights be read
}

// One batch, `order` of its samples: returns this thread's part of the loss.
__device__ float take_step(
    const Shared& shared, const Rates& rate, const Sizes& size, const Step& step,
    const Samples& samples, const int* order, int tiles, float* w, float* mean, float* square) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float loss = 0.0f;
    for (int tile = warp * TILES; tile < tiles; tile += WARPS * TILES) {
        unsigned x[IT][TILES][4];
        float raw[OT][TILES][2][4];
        int low[TILES], high[TILES];
        for (int t = 0; t < TILES; ++t) {
            low[t] = order[(tile + t) * 16 + lane / 4];
            high[t] = order[(tile + t) * 16 + lane / 4 + 8];
            for (int i = 0; i < IT; ++i) {
                load_rows(x[i][t], samples.x, low[t], high[t], 16 * i, lane);
                shared.inputs[((tile + t) * IT + i) * 32 + lane] = as_fragment(x[i][t]);
            }
        }
        predict(shared, size, x, shared.hidden + tile * HT * 32 + lane, tiles, raw, lane);
        for (int o = 0; o < OT; ++o)
            for (int t = 0; t < TILES; ++t) {
                unsigned d[4];
                for (int n = 0; n < 4; ++n) {  // n: rows in pairs, for each block of columns
                    const int column = 16 * o + n / 2 * 8 + 2 * (lane % 4);
                    const float2 y = *reinterpret_cast<const float2*>(
                        samples.y + (n % 2 ? high[t] : low[t]) * OUTPUTS + column);
                    const float* c = raw[o][t][n / 2] + n % 2 * 2;
                    float slope[2], here;
                    here = lose(c[0], y.x, slope[0]);
                    if (column < REAL_OUTPUTS) loss += here; else slope[0] = 0.0f;
                    here = lose(c[1], y.y, slope[1]);
                    if (column + 1 < REAL_OUTPUTS) loss += here; else slope[1] = 0.0f;
                    d[n] = pack(GAIN * slope[0], GAIN * slope[1]);
                }
                shared.slopes[((tile + t) * OT + o) * 32 + lane] = as_fragment(d);
            }
    }
    synchronize();  // a warp goes back through tiles that another one may have predicted
    uint4* h = shared.hidden + (LAYERS - 1) * tiles * HT * 32;
    const int last = LAYERS * LAYER;
    go_back<OT, 0, HT>(shared, rate, size, step, tiles, shared.slopes, h, shared.last_weights,
                       LAST_ROW, shared.last_bias, w + last, mean + last, square + last);
    for (int layer = LAYERS - 1; layer > 0; --layer) {
        const int at = layer * LAYER;
        go_back<HT, IT, HT>(shared, rate, size, step, tiles, h, h - tiles * HT * 32,
                            shared.weights + layer * WIDTH * ROW, ROW,
                            shared.bias + layer * WIDTH, w + at, mean + at, square + at);
        h -= tiles * HT * 32;
    }
    go_back<HT, IT, 0>(shared, rate, size, step, tiles, h, nullptr, shared.weights, ROW,
                       shared.bias, w, mean, square);
    return loss;
}

// Mean loss and error of samples that the network is not trained on, and its penalty.
__device__ void validate(
    const Shared& shared, const Rates& rate, const Sizes& size, const Samples& held_out,
    const float* variance, int held, float threshold, const float* w, float& loss, float& error,
    float& penalty) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    loss = error = penalty = 0.0f;
    for (int first = warp * TILE; first < held; first += THREADS / 32 * TILE) {
        unsigned x[IT][TILES][4];
        float raw[OT][TILES][2][4];
        for (int t = 0; t < TILES; ++t) {
            const int low = min(first + 16 * t + lane / 4, held - 1);
            const int high = min(first + 16 * t + lane / 4 + 8, held - 1);
            for (int i = 0; i < IT; ++i) load_rows(x[i][t], held_out.x, low, high, 16 * i, lane);
        }
        predict(shared, size, x, nullptr, 0, raw, lane);
        for (int o = 0; o < OT; ++o)
            for (int t = 0; t < TILES; ++t)
                for (int r = 0; r < 8; ++r) {
                    const int sample = first + 16 * t + lane / 4 + r / 2 % 2 * 8;
                    const int column = 16 * o + r / 4 * 8 + 2 * (lane % 4) + r % 2;
                    if (sample >= held || column >= REAL_OUTPUTS) continue;
                    float slope;
                    const float here =
                        lose(raw[o][t][r / 4][r % 4], held_out.y[sample * OUTPUTS + column], slope);
                    loss += here;
                    error += here * variance[column];
                }
    }
    for (int at = threadIdx.x; at < WEIGHTS; at += THREADS) {
        const bool in_last = at >= LAYERS * LAYER;
        const int reads = in_last ? LAST_READS : READS;
        if ((in_last ? at - LAYERS * LAYER : at) / BLOCK % reads == reads - 1) continue;
        const float size_of = fabsf(w[at]), kept = fminf(size_of, threshold);
        penalty += rate.l1 * (kept - kept * kept / (2.0f * threshold)) + rate.l2 * size_of * size_of;
    }
    loss = add_block(loss, shared.sums) / (held * REAL_OUTPUTS);
    error = add_block(error, shared.sums) / (held * REAL_OUTPUTS);
    penalty = add_block(penalty, shared.sums);
}

// What follows from the cost of an epoch: early stopping and status.
__device__ void judge(
    Losses& losses, Counts& counts, const Rates& rate, const Sizes& size, float cost) {
    const bool better = cost < losses.best * rate.tolerance;
    counts.bad_epochs = better || counts.epoch < size.anneal_start ? 0 : counts.bad_epochs + 1;
    if (better) losses.best = cost;
    counts.epoch += 1;
    counts.status = counts.epoch >= size.epochs ? EXHAUSTED : RUNNING;
    if (counts.bad_epochs >= size.patience) counts.status = CONVERGED;
    if (!isfinite(cost)) counts.status = DIVERGED;
}

extern "C" __global__ void __launch_bounds__(THREADS) train_segment(
    const uint4* x, const float* y, const int* orders, const uint4* held_x, const float* held_y,
    const float* variance, const Rates* rates, const Sizes* sizes, Losses* all_losses,
    Counts* all_counts, float* ws, float* means, float* squares,
    float* train_losses, float* validation_losses, int epochs, int splits, int used, int batch,
    int held) {
    const int net = blockIdx.x, nets = gridDim.x, tiles = batch / 16;
    const Rates rate = rates[net];
    const Sizes size = sizes[net];
    Losses losses = all_losses[net];
    Counts counts = all_counts[net];
    float *w = ws + net * WEIGHTS, *mean = means + net * WEIGHTS, *square = squares + net * WEIGHTS;
    const Samples samples = {x, y};
    const Samples held_out = {
        held_x + size.split * held * (INPUTS / 8), held_y + size.split * held * OUTPUTS};

    Shared shared;
    shared.hidden = reinterpret_cast<uint4*>(memory);
    shared.inputs = shared.hidden + LAYERS * tiles * HT * 32;
    shared.slopes = shared.inputs + tiles * IT * 32;
    shared.parts = reinterpret_cast<float4*>(shared.slopes + tiles * OT * 32);
    shared.bias = reinterpret_cast<float*>(shared.parts + MAX_READS * WARPS * 32);
    shared.last_bias = shared.bias + LAYERS * WIDTH;
    shared.sums = shared.last_bias + OUTPUTS;
    shared.weights = reinterpret_cast<half16*>(shared.sums + 16);
    shared.last_weights = shared.weights + LAYERS * WIDTH * ROW;

    const int lane = threadIdx.x % 32;
    for (int item = threadIdx.x / 32; item < WEIGHTS / BLOCK; item += WARPS) {
        const float4 own = *reinterpret_cast<const float4*>(w + item * BLOCK + 4 * lane);
        const int layer = item / (HT * READS), left = item - LAYERS * HT * READS;
        if (left < 0) {
            const int r = item / READS % HT, i = item % READS, node = layer * WIDTH + 16 * r;
            share_block(own, shared.weights + node * ROW, ROW, shared.bias + node,
                        i == READS - 1, 8 * i, lane);
        } else {
            const int r = left / LAST_READS, i = left % LAST_READS;
            share_block(own, shared.last_weights + 16 * r * LAST_ROW, LAST_ROW,
                        shared.last_bias + 16 * r, i == LAST_READS - 1, 8 * i, lane);
        }
    }
    synchronize();

    const int steps = used / batch;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        if (counts.status == RUNNING) {
            float mean_power = rate.corrected * powf(rate.mean_decay, counts.steps);
            float square_power = rate.corrected * powf(rate.square_decay, counts.steps);
            const bool anneals = counts.epoch >= size.anneal_start;
            const float threshold = anneals ? rate.mcp_threshold : NO_THRESHOLD;
            const float progress = (counts.epoch - size.anneal_start)
                / static_cast<float>(max(size.epochs - size.anneal_start, 1));
            const float pace = rate.learning_rate
                * (anneals ? powf(rate.final_lr_factor, fminf(progress, 1.0f)) : 1.0f);
            Step step = {0.0f, 0.0f, rate.floor, 1.0f / (GAIN * batch * REAL_OUTPUTS),
                         rate.l1, rate.l2, 1.0f / threshold};
            const int* order = orders + (epoch * splits + size.split) * used;
            float total = 0.0f, penalty;
            for (int number = 0; number < steps; ++number) {
                mean_power *= rate.mean_decay, square_power *= rate.square_decay;
                step.pace = pace / (1.0f - mean_power);
                step.spread = 1.0f / (1.0f - square_power);
                total += take_step(shared, rate, size, step, samples, order + number * batch,
                                   tiles, w, mean, square);
            }
            losses.train = add_block(total, shared.sums) / (steps * batch * REAL_OUTPUTS);
            validate(shared, rate, size, held_out, variance, held, threshold, w,
                     losses.validation, losses.error, penalty);
            counts.steps += steps;
            judge(losses, counts, rate, size, losses.validation + penalty);
        }
        if (threadIdx.x == 0) {
            train_losses[epoch * nets + net] = losses.train;
            validation_losses[epoch * nets + net] = losses.validation;
        }
    }
    if (threadIdx.x == 0) all_losses[net] = losses, all_counts[net] = counts;
}
