// Layers of redundant-input networks, forward and back: a block of warps works on one network.
//
// Weights are kept twice: in single precision with the optimiser's moments in memory, and in half
// precision in shared memory, where the products read them. Products are those of tensor cores,
// half precision times half precision, summed in single precision; half precision has ten bits of
// mantissa, as TF32 has. Values above 65504 are infinite, and their network diverges.
//
// A warp works on TILES x 16 samples at a time. What it keeps of them between layers lies in
// fragments, the registers of its 32 threads as tensor cores want them: of the inputs, of each
// hidden layer (its activations, and on the way back its deltas, the gradients of the loss with
// respect to its pre-activations), of the outputs.
//
// The compiler is given the sizes: INPUTS, WIDTH and OUTPUTS are multiples of 16; REAL_OUTPUTS are
// columns of the table; LAYERS; WARPS of a block; TILES; LOSS. INPUTS is 0 where wide.cu multiplies
// the inputs: the products of a layer are then found where its activations are put.

constexpr int IT = INPUTS / 16, HT = WIDTH / 16, OT = OUTPUTS / 16;  // 16 x 16 blocks
constexpr int THREADS = 32 * WARPS;
constexpr int READS = 2 * (IT + HT) + 1;      // blocks of 16 x 8 weights in 16 nodes of a layer
constexpr int LAST_READS = 2 * HT + 1;        // the same of 16 outputs; the last one is the bias
constexpr int BLOCK = 128;                    // weights in a block of 16 x 8
constexpr int SOME = IT ? IT : 1;             // arrays have no length 0
constexpr int LAYER = HT * READS * BLOCK;     // weights of a layer in memory
constexpr int WEIGHTS = LAYERS * LAYER + OT * LAST_READS * BLOCK;
constexpr int ROW = INPUTS + WIDTH + 8;       // of a node's weights in shared memory; 8 spread
constexpr int LAST_ROW = WIDTH + 8;           // rows over its banks
template <int A, int B> constexpr int LARGER = A > B ? A : B;
// The gradient of R x 16 nodes and C x 16 columns: warps that share its samples, and all its parts.
template <int R, int C> constexpr int SHARES = LARGER<WARPS / (R * LARGER<C, 1>), 1>;
template <int R, int C> constexpr int PARTS = R * (2 * C + 1) * SHARES<R, C>;
constexpr int MAX_PARTS = LARGER<LARGER<PARTS<HT, IT + HT>, PARTS<HT, IT>>, PARTS<OT, HT>>;
constexpr float GAIN = 16.0f;                 // of deltas, so that small ones keep their bits
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
struct Samples {  // rows of x are INPUTS halves, rows of y OUTPUTS floats
    const uint4* x;
    const float* y;
    int stride;  // tiles of a layer, where `hidden` holds products with the inputs
};
struct Step {  // what a step of the optimiser needs
    float pace, spread, floor, scale, l1, l2, threshold, mcp_slope;
};
struct Shared {  // where the parts of shared memory begin; with INPUTS 0 `hidden` is in memory
    uint4 *hidden, *inputs, *deltas;
    float4* parts;
    float *bias, *last_bias, *sums;
    half16 *weights, *last_weights;
};

__device__ float activate(int activation, float z) {
    if (activation == RELU) return fmaxf(z, 0.0f);
    if (activation == SIGMOID) return 1.0f / (1.0f + __expf(-z));
    if (activation == TANH) return 2.0f / (1.0f + __expf(-2.0f * z)) - 1.0f;
    return fmaxf(z, 0.0f) + __logf(1.0f + __expf(-fabsf(z)));
}

__device__ float differentiate(int activation, float h) {  // from what `activate` gives
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
    for (int warp = 0; warp < blockDim.x / 32; ++warp) total += sums[warp];
    synchronize();
    return total;
}

__device__ uint4 as_fragment(const unsigned* a) { return {a[0], a[1], a[2], a[3]}; }

__device__ void load_fragment(unsigned* a, const uint4& from) {
    a[0] = from.x, a[1] = from.y, a[2] = from.z, a[3] = from.w;
}

// The fragment of the transposed matrix: its second operand of a product.
__device__ void transpose_fragment(unsigned* to, const unsigned* a) {
    #pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = transpose(a[i]);
}

// The same as its first operand.
__device__ void transpose_first(unsigned* to, const unsigned* a) {
    to[0] = transpose(a[0]), to[1] = transpose(a[2]);
    to[2] = transpose(a[1]), to[3] = transpose(a[3]);
}

// The fragment of 16 samples x 16 columns from rows of halves.
__device__ void load_rows(
    unsigned* a, const uint4* x, int row, int low, int high, int column, int lane) {
    const unsigned* words = reinterpret_cast<const unsigned*>(x) + column / 2 + lane % 4;
    a[0] = words[low * (row / 2)], a[1] = words[high * (row / 2)];
    a[2] = words[low * (row / 2) + 4], a[3] = words[high * (row / 2) + 4];
}

// c += a @ w.T for two blocks of 8 nodes: w are 16 rows of weights, 16 columns from the pointer on.
template <int T>
__device__ void multiply_weights(
    float (&c)[T][2][4], const unsigned (&a)[T][4], const half16* w, int row, int lane) {
    unsigned b[4];
    load_blocks(b, w + (lane % 8 + lane / 16 * 8) * row + lane / 8 % 2 * 8);
    #pragma unroll
    for (int t = 0; t < T; ++t) {
        multiply(c[t][0], a[t], b[0], b[1]);
        multiply(c[t][1], a[t], b[2], b[3]);
    }
}

// Raw outputs of TILES x 16 samples from their fragments of inputs; may keep the hidden layers.
__device__ void predict(
    const Shared& shared, const Sizes& size, const unsigned (&x)[SOME][TILES][4], uint4* hidden,
    int stride, bool keeps, float (&raw)[OT][TILES][2][4], int lane) {
    unsigned h[HT][TILES][4];
    for (int layer = 0; layer < LAYERS; ++layer) {
        float z[HT][TILES][2][4] = {};
        #pragma unroll
        for (int i = 0; i < HT; ++i)
            #pragma unroll
            for (int t = 0; !IT && t < TILES; ++t) {
                unsigned sums[4];
                load_fragment(sums, hidden[((layer * stride + t) * HT + i) * 32]);
                #pragma unroll
                for (int n = 0; n < 4; ++n) {
                    const float2 sum = unpack(sums[n]);
                    z[i][t][n / 2][n % 2 * 2] = sum.x, z[i][t][n / 2][n % 2 * 2 + 1] = sum.y;
                }
            }
        #pragma unroll
        for (int i = 0; i < HT; ++i) {
            const half16* w = shared.weights + (layer * WIDTH + 16 * i) * ROW;
            #pragma unroll
            for (int n = 0; n < 2; ++n) {
                const float2 bias = *reinterpret_cast<const float2*>(
                    shared.bias + layer * WIDTH + 16 * i + 8 * n + 2 * (lane % 4));
                #pragma unroll
                for (int t = 0; t < TILES; ++t) {
                    z[i][t][n][0] += bias.x, z[i][t][n][2] += bias.x;
                    z[i][t][n][1] += bias.y, z[i][t][n][3] += bias.y;
                }
            }
            #pragma unroll
            for (int k = 0; k < IT; ++k) multiply_weights(z[i], x[k], w + 16 * k, ROW, lane);
            if (layer > 0)
                #pragma unroll
                for (int k = 0; k < HT; ++k)
                    multiply_weights(z[i], h[k], w + INPUTS + 16 * k, ROW, lane);
        }
        #pragma unroll
        for (int i = 0; i < HT; ++i)
            #pragma unroll
            for (int t = 0; t < TILES; ++t) {
                #pragma unroll
                for (int n = 0; n < 2; ++n) {
                    const int node = 16 * i + 8 * n + 2 * (lane % 4);
                    float value[4];
                    #pragma unroll
                    for (int r = 0; r < 4; ++r)
                        value[r] = node + r % 2 < size.width
                            ? activate(size.activation, z[i][t][n][r]) : 0.0f;
                    h[i][t][2 * n] = pack(value[0], value[1]);
                    h[i][t][2 * n + 1] = pack(value[2], value[3]);
                }
                if (keeps) hidden[((layer * stride + t) * HT + i) * 32] = as_fragment(h[i][t]);
            }
    }
    #pragma unroll
    for (int o = 0; o < OT; ++o) {
        #pragma unroll
        for (int n = 0; n < 2; ++n) {
            const float2 bias = *reinterpret_cast<const float2*>(
                shared.last_bias + 16 * o + 8 * n + 2 * (lane % 4));
            #pragma unroll
            for (int t = 0; t < TILES; ++t) {
                raw[o][t][n][0] = raw[o][t][n][2] = bias.x;
                raw[o][t][n][1] = raw[o][t][n][3] = bias.y;
            }
        }
        #pragma unroll
        for (int k = 0; k < HT; ++k)
            multiply_weights(
                raw[o], h[k], shared.last_weights + 16 * o * LAST_ROW + 16 * k, LAST_ROW, lane);
    }
}

// The loss of one output of one sample, and its derivative.
__device__ float find_loss(float raw, float y, float& delta) {
    if (LOSS == MSE) {
        delta = 2.0f * (raw - y);
        return (raw - y) * (raw - y);
    }
    delta = 1.0f / (1.0f + __expf(-raw)) - y;
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

// The same for the four weights of a thread.
__device__ void descend_all(
    float4& w, const float4& gradient, float4& mean, float4& square, const Rates& rate,
    const Step& step, bool is_bias) {
    w.x = descend(w.x, gradient.x * step.scale, mean.x, square.x, rate, step, is_bias);
    w.y = descend(w.y, gradient.y * step.scale, mean.y, square.y, rate, step, is_bias);
    w.z = descend(w.z, gradient.z * step.scale, mean.z, square.z, rate, step, is_bias);
    w.w = descend(w.w, gradient.w * step.scale, mean.w, square.w, rate, step, is_bias);
}

// Whether a thread has weights in a block: of nodes r x 16 and the hidden nodes i x 8 below. With
// many inputs, where weights pass through memory in each step, padding stays there; it is zero.
__device__ bool is_real(int r, int nodes, int i, const Sizes& size) {
    return IT || (16 * r + static_cast<int>(threadIdx.x % 32 / 4) < nodes && 8 * i < size.width);
}

// Back through one layer of R x 16 nodes, which reads X x 16 inputs and H x 16 nodes below it:
// deltas of the layer below, gradients, and a step of the layer's own weights.
template <int R, int X, int H>
__device__ void backpropagate(
    const Shared& shared, const Rates& rate, const Sizes& size, const Step& step, int nodes,
    int tiles, const uint4* deltas, uint4* below, half16* rows, int row, float* bias, float* w,
    float* mean, float* square) {
    constexpr int N = 2 * (X + H) + 1, ALL = 2 * (X ? IT + HT : HT) + 1;
    constexpr int COLUMNS = LARGER<X + H, 1>, SHARED_BY = SHARES<R, X + H>;
    constexpr int DEPTH = IT ? 1 : (R * N - 1) / WARPS + 1;  // blocks of a warp at a time
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto find = [&](int item) {
        return (item / N * ALL + (item % N == N - 1 ? ALL - 1 : item % N)) * BLOCK + 4 * lane;
    };
    const auto has_weights = [&](int item) {
        const int i = item % N == N - 1 ? 0 : item % N - 2 * X;
        return item < R * N && is_real(item / N, nodes, i, size);
    };
    float4 own[DEPTH], m[DEPTH], s[DEPTH];
    const auto load = [&](int first) {
        #pragma unroll
        for (int n = 0; n < DEPTH; ++n) {
            const int item = first + n * WARPS, at = find(item);
            if (!has_weights(item)) continue;
            own[n] = *reinterpret_cast<float4*>(w + at);
            m[n] = *reinterpret_cast<float4*>(mean + at);
            s[n] = *reinterpret_cast<float4*>(square + at);
        }
    };
    if (!IT) load(warp);  // all of them: they come from far
    for (int item = warp; item < R * COLUMNS * SHARED_BY; item += WARPS) {
        const int share = item / (R * COLUMNS), r = item / COLUMNS % R, c = item % COLUMNS;
        const uint4* from = c < X ? shared.inputs + c * 32 : below + (c - X) * 32;
        const int stride = c < X ? IT * 32 : HT * 32;
        float gradient[3][4] = {};
        #pragma unroll 4
        for (int tile = share; tile < tiles; tile += SHARED_BY) {
            unsigned read[4], a[4], d[4];
            load_fragment(a, deltas[(tile * R + r) * 32 + lane]);
            transpose_first(d, a);
            if (X + H) {
                load_fragment(a, from[tile * stride + lane]);
                transpose_fragment(read, a);
                multiply(gradient[0], d, read[0], read[1]);
                multiply(gradient[1], d, read[2], read[3]);
            }
            if (c == 0) multiply(gradient[2], d, ONES, ONES);
        }
        float4* to = shared.parts + (r * N * SHARED_BY + share) * 32 + lane;
        #pragma unroll
        for (int n = 0; n < 3; ++n)
            if (n < 2 ? X + H : c == 0)
                to[(n < 2 ? 2 * c + n : N - 1) * SHARED_BY * 32] = {
                    gradient[n][0], gradient[n][1], gradient[n][2], gradient[n][3]};
    }
    synchronize();  // a warp may change what another one reads below
    for (int item = warp; item < tiles * H; item += WARPS) {
        const int tile = item / LARGER<H, 1>, i = item % LARGER<H, 1>;
        const half16* block =
            rows + 16 * (X + i) + (lane % 8 + lane / 8 % 2 * 8) * row + lane / 16 * 8;
        float d[2][4] = {};
        unsigned a[R][4], b[4], h[4];
        #pragma unroll
        for (int r = 0; r < R; ++r) load_fragment(a[r], deltas[(tile * R + r) * 32 + lane]);
        load_fragment(h, below[item * 32 + lane]);
        #pragma unroll
        for (int r = 0; r < R; ++r) {
            load_blocks_transposed(b, block + 16 * r * row);
            multiply(d[0], a[r], b[0], b[1]);
            multiply(d[1], a[r], b[2], b[3]);
        }
        #pragma unroll
        for (int n = 0; n < 4; ++n) {
            const float2 value = unpack(h[n]);
            const float* c = d[n / 2] + n % 2 * 2;
            h[n] = pack(c[0] * differentiate(size.activation, value.x),
                        c[1] * differentiate(size.activation, value.y));
        }
        below[item * 32 + lane] = as_fragment(h);
    }
    if (H) synchronize();  // no warp reads these weights
    for (int first = warp; first < R * N; first += WARPS * DEPTH) {
        if (IT) load(first);
        #pragma unroll
        for (int n = 0; n < DEPTH; ++n) {
            const int item = first + n * WARPS, at = find(item), r = item / N, i = item % N;
            if (!has_weights(item)) continue;
            float4 sum = {};
            #pragma unroll
            for (int part = 0; part < SHARED_BY; ++part) {
                const float4 p = shared.parts[(item * SHARED_BY + part) * 32 + lane];
                sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
            }
            descend_all(own[n], sum, m[n], s[n], rate, step, i == N - 1);
            *reinterpret_cast<float4*>(w + at) = own[n];
            *reinterpret_cast<float4*>(mean + at) = m[n];
            *reinterpret_cast<float4*>(square + at) = s[n];
            share_block(own[n], rows + 16 * r * row, row, bias + 16 * r, i == N - 1, 8 * i, lane);
        }
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
        unsigned x[SOME][TILES][4];
        float raw[OT][TILES][2][4];
        int low[TILES], high[TILES];
        #pragma unroll
        for (int t = 0; t < TILES; ++t) {
            low[t] = order[(tile + t) * 16 + lane / 4];
            high[t] = order[(tile + t) * 16 + lane / 4 + 8];
            #pragma unroll
            for (int i = 0; i < IT; ++i) {
                load_rows(x[i][t], samples.x, INPUTS, low[t], high[t], 16 * i, lane);
                shared.inputs[((tile + t) * IT + i) * 32 + lane] = as_fragment(x[i][t]);
            }
        }
        predict(shared, size, x, shared.hidden + tile * HT * 32 + lane, tiles, true, raw, lane);
        #pragma unroll
        for (int o = 0; o < OT; ++o)
            #pragma unroll
            for (int t = 0; t < TILES; ++t) {
                unsigned d[4];
                #pragma unroll
                for (int n = 0; n < 4; ++n) {  // n: rows in pairs, for each block of columns
                    const int column = 16 * o + n / 2 * 8 + 2 * (lane % 4);
                    const float2 y = *reinterpret_cast<const float2*>(
                        samples.y + (n % 2 ? high[t] : low[t]) * OUTPUTS + column);
                    const float* c = raw[o][t][n / 2] + n % 2 * 2;
                    float delta[2], here;
                    here = find_loss(c[0], y.x, delta[0]);
                    if (column < REAL_OUTPUTS) loss += here; else delta[0] = 0.0f;
                    here = find_loss(c[1], y.y, delta[1]);
                    if (column + 1 < REAL_OUTPUTS) loss += here; else delta[1] = 0.0f;
                    d[n] = pack(GAIN * delta[0], GAIN * delta[1]);
                }
                shared.deltas[((tile + t) * OT + o) * 32 + lane] = as_fragment(d);
            }
    }
    synchronize();  // a warp goes back through tiles that another one may have predicted
    uint4* h = shared.hidden + (LAYERS - 1) * tiles * HT * 32;
    const int last = LAYERS * LAYER;
    backpropagate<OT, 0, HT>(
        shared, rate, size, step, REAL_OUTPUTS, tiles, shared.deltas, h, shared.last_weights,
        LAST_ROW, shared.last_bias, w + last, mean + last, square + last);
    for (int layer = LAYERS - 1; layer > 0; --layer) {
        const int at = layer * LAYER;
        backpropagate<HT, IT, HT>(
            shared, rate, size, step, size.width, tiles, h, h - tiles * HT * 32,
            shared.weights + layer * WIDTH * ROW, ROW, shared.bias + layer * WIDTH, w + at,
            mean + at, square + at);
        h -= tiles * HT * 32;
    }
    backpropagate<HT, IT, 0>(
        shared, rate, size, step, size.width, tiles, h, nullptr, shared.weights, ROW, shared.bias,
        w, mean, square);
    return loss;
}

// The loss and error of samples that the network is not trained on, summed over its threads.
__device__ void validate(
    const Shared& shared, const Sizes& size, const Samples& held_out, const float* variance,
    int samples, float& loss, float& error) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = (samples + 15) / 16;
    float losses = 0.0f, errors = 0.0f;
    for (int tile = warp * TILES; tile < tiles; tile += WARPS * TILES) {
        unsigned x[SOME][TILES][4];
        float raw[OT][TILES][2][4];
        const int first = 16 * tile + lane / 4;
        #pragma unroll
        for (int t = 0; t < TILES; ++t) {
            const int low = min(first + 16 * t, samples - 1);
            const int high = min(first + 16 * t + 8, samples - 1);
            #pragma unroll
            for (int i = 0; i < IT; ++i)
                load_rows(x[i][t], held_out.x, INPUTS, low, high, 16 * i, lane);
        }
        predict(shared, size, x, shared.hidden + tile * HT * 32 + lane, held_out.stride, false,
                raw, lane);
        #pragma unroll
        for (int o = 0; o < OT; ++o)
            #pragma unroll
            for (int t = 0; t < TILES; ++t)
                #pragma unroll
                for (int r = 0; r < 8; ++r) {
                    const int sample = first + 16 * t + r / 2 % 2 * 8;
                    const int column = 16 * o + r / 4 * 8 + 2 * (lane % 4) + r % 2;
                    if (sample >= samples || column >= REAL_OUTPUTS) continue;
                    float delta;
                    const float y = held_out.y[sample * OUTPUTS + column];
                    const float here = find_loss(raw[o][t][r / 4][r % 4], y, delta);
                    losses += here;
                    errors += here * variance[column];
                }
    }
    loss = add_block(losses, shared.sums);
    error = add_block(errors, shared.sums);
}

__device__ float penalise(const Step& step, float w) {
    const float magnitude = fabsf(w), kept = fminf(magnitude, step.threshold);
    return step.l1 * (kept - kept * kept * 0.5f * step.mcp_slope) + step.l2 * magnitude * magnitude;
}

// The penalty of a network's weights, all but its biases.
__device__ float find_penalty(const Shared& shared, const Step& step, const float* w) {
    float penalty = 0.0f;
    for (int at = threadIdx.x; at < WEIGHTS; at += THREADS) {
        const bool in_last = at >= LAYERS * LAYER;
        const int reads = in_last ? LAST_READS : READS;
        if ((in_last ? at - LAYERS * LAYER : at) / BLOCK % reads == reads - 1) continue;
        penalty += penalise(step, w[at]);
    }
    return add_block(penalty, shared.sums);
}

// What follows from the cost of an epoch: early stopping and status.
__device__ void finish_epoch(
    Losses& losses, Counts& counts, const Rates& rate, const Sizes& size, float cost) {
    const bool better = cost < losses.best * rate.tolerance;
    counts.bad_epochs = better || counts.epoch < size.anneal_start ? 0 : counts.bad_epochs + 1;
    if (better) losses.best = cost;
    counts.epoch += 1;
    counts.status = counts.epoch >= size.epochs ? EXHAUSTED : RUNNING;
    if (counts.bad_epochs >= size.patience) counts.status = CONVERGED;
    if (!isfinite(cost)) counts.status = DIVERGED;
}

// What step `number` of an epoch needs.
__device__ Step find_step(
    const Rates& rate, const Sizes& size, const Counts& counts, int number, int batch) {
    const bool anneals = counts.epoch >= size.anneal_start;
    const float progress = (counts.epoch - size.anneal_start)
        / static_cast<float>(max(size.epochs - size.anneal_start, 1));
    const float factor = anneals ? powf(rate.final_lr_factor, fminf(progress, 1.0f)) : 1.0f;
    const float steps = counts.steps + number + 1;
    const float threshold = anneals ? rate.mcp_threshold : NO_THRESHOLD;
    return {rate.learning_rate * factor / (1.0f - rate.corrected * powf(rate.mean_decay, steps)),
            1.0f / (1.0f - rate.corrected * powf(rate.square_decay, steps)),
            rate.floor, 1.0f / (GAIN * batch * REAL_OUTPUTS), rate.l1, rate.l2, threshold,
            1.0f / threshold};
}

// Divide the shared memory of a block; with INPUTS, its first part holds the hidden layers.
__device__ Shared divide_memory(int tiles) {
    Shared shared;
    shared.hidden = reinterpret_cast<uint4*>(memory);
    shared.inputs = shared.hidden + (IT ? LAYERS * tiles * HT * 32 : 0);
    shared.deltas = shared.inputs + tiles * IT * 32;
    shared.parts = reinterpret_cast<float4*>(shared.deltas + tiles * OT * 32);
    shared.bias = reinterpret_cast<float*>(shared.parts + MAX_PARTS * 32);
    shared.last_bias = shared.bias + LAYERS * WIDTH;
    shared.sums = shared.last_bias + OUTPUTS;
    shared.weights = reinterpret_cast<half16*>(shared.sums + 16);
    shared.last_weights = shared.weights + LAYERS * WIDTH * ROW;
    return shared;
}

// Bring the weights of a network into shared memory.
__device__ void share_weights(const Shared& shared, const Sizes& size, const float* w) {
    const int lane = threadIdx.x % 32;
    #pragma unroll 8
    for (int item = threadIdx.x / 32; item < WEIGHTS / BLOCK; item += WARPS) {
        const int layer = item / (HT * READS), left = item - LAYERS * HT * READS;
        const bool is_last = left >= 0;
        const int r = is_last ? left / LAST_READS : item / READS % HT;
        const int i = is_last ? left % LAST_READS : item % READS;
        const bool is_bias = i == (is_last ? LAST_READS : READS) - 1;
        float4 own = {};
        if (is_real(r, is_last ? REAL_OUTPUTS : size.width, is_bias ? 0 : i, size))
            own = *reinterpret_cast<const float4*>(w + item * BLOCK + 4 * lane);
        if (is_last)
            share_block(own, shared.last_weights + 16 * r * LAST_ROW, LAST_ROW,
                        shared.last_bias + 16 * r, is_bias, 8 * i, lane);
        else
            share_block(own, shared.weights + (layer * WIDTH + 16 * r) * ROW, ROW,
                        shared.bias + layer * WIDTH + 16 * r, is_bias, 8 * i, lane);
    }
    synchronize();
}
