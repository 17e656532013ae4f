/*
 * tiling.c: how a product is cut into tiles.
 *
 * OpenBLAS packs a and b into buffers before it multiplies, and for tiles of a
 * batch that costs a tenth of the time. On processors with AVX-512 it has
 * kernels that need no packing, which it takes for m n k <= 10^6 (and, if b
 * alone is transposed, m n <= 1200 and k >= 32). Measured on one core of a
 * Zen 4 at a batch of 64, in 10^9 operations a second:
 *
 *                                  packed      tiles that need no packing
 *     x W^T     64 x 784 x 400         94     110 (64 x 16)
 *     dy^T x    400 x 64 x 784        101     113 (128 x 112)
 *     dy W      64 x 784 x 400        100     114 (32 x 32)
 *     x W^T     64 x 50 x 150          83      58: not below k = 192
 */
#include "tensor/cpu/tiling.h"

#include "tensor/cpu/cpu.h"

#define UNIT ((size_t)16) /* of rows and columns */
/* What is smaller is one tile: a thread would not be worth waking. */
#define WHOLE ((size_t)1 << 17)
#define DIRECT_VOLUME ((size_t)1000000)
#define DIRECT_AREA ((size_t)1024)
#define DIRECT_K_MIN ((size_t)192)
#define DIRECT_SIDE_MAX ((size_t)128)
#define PACKED_ROWS ((size_t)256)
#define PACKED_COLUMNS ((size_t)208)

static size_t
divide_up(size_t size, size_t by)
{
    return (size + by - 1) / by;
}

/* The multiple of UNIT at or below; at least one. */
static size_t
whole_units(size_t size)
{
    return size < UNIT ? UNIT : size / UNIT * UNIT;
}

/* The largest tile without packing, where there is one worth having. */
static bool
direct_tile(const struct tiling_shape *shape, size_t *ret_rows,
            size_t *ret_columns)
{
    size_t k = shape->k;
    size_t side = DIRECT_SIDE_MAX;
    if (shape->transpose_b) {
        size_t rows = divide_up(shape->m, UNIT) * UNIT;
        rows = rows < 4 * UNIT ? rows : 4 * UNIT;
        if (shape->transpose_a || k < DIRECT_K_MIN ||
            DIRECT_AREA * k > DIRECT_VOLUME) {
            return false;
        }
        *ret_rows = rows;
        *ret_columns = whole_units(DIRECT_AREA / rows);
        return true;
    }
    if (k == 0 || 2 * UNIT * UNIT * k > DIRECT_VOLUME) {
        return false;
    }
    while (side > UNIT && side * side * k > DIRECT_VOLUME) {
        side -= UNIT;
    }
    *ret_columns = side;
    *ret_rows = whole_units(DIRECT_VOLUME / k / side);
    return true;
}

/* An even number of packed tiles if there are several: cores come in pairs. */
struct tiling
tiling_choose(const struct tiling_shape *shape, bool direct)
{
    size_t rows = PACKED_ROWS;
    size_t columns = PACKED_COLUMNS;
    if (shape->m * shape->n * shape->k <= WHOLE) {
        return (struct tiling){1, 1};
    }
    direct = direct && direct_tile(shape, &rows, &columns);
    struct tiling tiling = {divide_up(shape->m, rows),
                            divide_up(shape->n, columns)};
    if (!direct && tiling.rows * tiling.columns % 2 != 0) {
        if (shape->m / tiling.rows > shape->n / tiling.columns) {
            tiling.rows++;
        } else {
            tiling.columns++;
        }
    }
    return tiling;
}

struct tile
tiling_tile(const struct tiling_shape *shape, struct tiling tiling, size_t i)
{
    size_t row = i / tiling.columns;
    size_t column = i % tiling.columns;
    struct tile tile = {cpu_part(shape->m, UNIT, tiling.rows, row),
                        cpu_part(shape->n, UNIT, tiling.columns, column), 0, 0};
    tile.rows = cpu_part(shape->m, UNIT, tiling.rows, row + 1) - tile.row;
    tile.columns =
        cpu_part(shape->n, UNIT, tiling.columns, column + 1) - tile.column;
    return tile;
}
