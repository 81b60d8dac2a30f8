// Many small networks: a block takes its network through all epochs of a segment.
//
// Forward, backward and optimiser of every batch, validation and early stopping after every epoch.
// A block ends at once where its network stops.

extern "C" __global__ void __launch_bounds__(THREADS, 4) train_segment(
    const uint4* x, const float* y, const int* orders, const uint4* held_x, const float* held_y,
    const float* variance, const Rates* rates, const Sizes* sizes, Losses* all_losses,
    Counts* all_counts, float* ws, float* means, float* squares,
    float* train_losses, float* validation_losses, int epochs, int splits, int used, int batch,
    int held) {
    const int net = blockIdx.x, nets = gridDim.x, steps = used / batch;
    const Rates rate = rates[net];
    const Sizes size = sizes[net];
    Losses losses = all_losses[net];
    Counts counts = all_counts[net];
    float *w = ws + net * WEIGHTS, *mean = means + net * WEIGHTS, *square = squares + net * WEIGHTS;
    const Samples samples = {x, y, 0};
    const Samples held_out = {
        held_x + size.split * held * (INPUTS / 8), held_y + size.split * held * OUTPUTS, 0};
    const Shared shared = divide_memory(batch / 16);
    share_weights(shared, size, w);
    for (int epoch = 0; epoch < epochs; ++epoch) {
        if (counts.status == RUNNING) {
            const int* order = orders + (epoch * splits + size.split) * used;
            const Step first = find_step(rate, size, counts, 0, batch);
            float total = 0.0f;
            for (int number = 0; number < steps; ++number)
                total += take_step(shared, rate, size, find_step(rate, size, counts, number, batch),
                                   samples, order + number * batch, batch / 16, w, mean, square);
            losses.train = add_block(total, shared.sums) / (steps * batch * REAL_OUTPUTS);
            validate(shared, size, held_out, variance, held, losses.validation, losses.error);
            losses.validation /= held * REAL_OUTPUTS;
            losses.error /= held * REAL_OUTPUTS;
            counts.steps += steps;
            finish_epoch(losses, counts, rate, size,
                  losses.validation + find_penalty(shared, first, w));
        }
        if (threadIdx.x == 0) {
            train_losses[epoch * nets + net] = losses.train;
            validation_losses[epoch * nets + net] = losses.validation;
        }
    }
    if (threadIdx.x == 0) all_losses[net] = losses, all_counts[net] = counts;
}
