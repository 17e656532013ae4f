/*
 * clustering_cut.c: the tree cut into parts, none of them a few rows.
 *
 * Ward's costliest merges are undone first, from the root down. Rows that lie
 * far off are costly to merge however few they are, so the first cuts would
 * split off outliers: codes that hardly anybody has, while groups that could be
 * told apart stay one. So a group is split only where both halves have a share
 * of at least `least` / parts of the rows. Where one has less it is left
 * over, and the other takes the group's place; where both have, the group stays
 * whole. Cells that are left over go to the part with the nearest mean. If the
 * tree has not enough groups of that size, the share is halved:
 *
 *     root                 the split of root leaves r over: few rows
 *      |  \                l takes its place, and is split into a and b
 *      l   r ....> b       r's cells go to the nearer of the two
 *     / \
 *    a   b
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/clustering.h"
#include "host/error.h"
#include "host/wipe.h"

#define NOBODY UINT32_MAX

enum place {
    PLACE_INSIDE = 0, /* of a larger group, or split */
    PLACE_PART = 1,
    PLACE_LEFT = 2 /* over */
};

struct node {
    double weight;        /* rows */
    uint32_t left, right; /* nodes that were merged; none of a cell */
    enum place place;
};

struct cut {
    const struct clustering *clustering;
    const float *site; /* cells rows of d: where they look for means */
    size_t d;
    size_t nodes; /* cells, then merges in their order: the last is the root */
    struct node *node;
    uint32_t *of;  /* the node's part, before parts are numbered */
    double *mean;  /* parts rows of d */
    double *count; /* rows of a part */
};

/* ---- The tree ------------------------------------------------------------ */

/* Makes a node of every cell and of every merge. */
static enum sotto_status
grow_nodes(struct cut *cut, struct sotto_error *err)
{
    const struct clustering *clustering = cut->clustering;
    size_t cells = clustering->cells;
    uint32_t *group = malloc(cells * sizeof *group); /* a cell's, so far */
    if (group == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < cells; i++) {
        group[i] = (uint32_t)i;
        cut->node[i] = (struct node){.weight = clustering->weight[i]};
    }
    for (size_t i = 0; i + 1 < cells; i++) {
        uint32_t a = group[clustering->merged[2 * i]];
        uint32_t b = group[clustering->merged[2 * i + 1]];
        cut->node[cells + i] =
            (struct node){.weight = cut->node[a].weight + cut->node[b].weight,
                          .left = a,
                          .right = b};
        for (size_t j = 0; j < cells; j++) {
            if (group[j] == a || group[j] == b) {
                group[j] = (uint32_t)(cells + i);
            }
        }
    }
    free(group);
    return SOTTO_STATUS_OK;
}

/* Splits groups of so many rows at least, until there are enough parts or no
   more can be split; returns how many there are. */
static size_t
split_groups(struct cut *cut, size_t parts, double least)
{
    size_t found = 1;
    for (size_t i = 0; i < cut->nodes; i++) {
        cut->node[i].place = PLACE_INSIDE;
    }
    cut->node[cut->nodes - 1].place = PLACE_PART;
    for (size_t i = cut->nodes;
         found < parts && i-- > cut->clustering->cells;) {
        struct node *node = &cut->node[i];
        struct node *left = &cut->node[node->left];
        struct node *right = &cut->node[node->right];
        bool whole = left->weight < least && right->weight < least;
        if (node->place == PLACE_PART && !whole) {
            node->place = PLACE_INSIDE;
            left->place = left->weight < least ? PLACE_LEFT : PLACE_PART;
            right->place = right->weight < least ? PLACE_LEFT : PLACE_PART;
            found += left->place == right->place;
        }
    }
    return found;
}

/* ---- Parts --------------------------------------------------------------- */

/* Finds the part of every cell that is not left over, and the parts' means. */
static void
fill_parts(struct cut *cut)
{
    const struct clustering *clustering = cut->clustering;
    size_t cells = clustering->cells, d = cut->d;
    uint32_t next = 0;
    for (size_t i = 0; i < cut->nodes; i++) {
        cut->of[i] = NOBODY;
    }
    for (size_t i = cut->nodes; i-- > 0;) {
        if (cut->node[i].place == PLACE_PART) {
            cut->of[i] = next++;
        }
        if (i >= cells && cut->of[i] != NOBODY) {
            cut->of[cut->node[i].left] = cut->of[i];
            cut->of[cut->node[i].right] = cut->of[i];
        }
    }
    for (size_t i = 0; i < cells; i++) {
        double weight = clustering->weight[i];
        if (cut->of[i] != NOBODY) {
            cut->count[cut->of[i]] += weight;
            for (size_t j = 0; j < d; j++) {
                cut->mean[cut->of[i] * d + j] +=
                    weight * (double)cut->site[i * d + j];
            }
        }
    }
}

/* The part whose mean is nearest to a cell's site. */
static uint32_t
find_nearest(const struct cut *cut, size_t parts, size_t cell)
{
    size_t d = cut->d;
    const float *site = cut->site + cell * d;
    double least = INFINITY;
    uint32_t best = 0;
    for (uint32_t c = 0; c < parts; c++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++) {
            double difference =
                cut->mean[c * d + j] / cut->count[c] - (double)site[j];
            sum += difference * difference;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    return best;
}

/* Numbers parts by their first cell. */
static void
number_parts(struct cut *cut, size_t parts, uint32_t *ret_part)
{
    uint32_t *number = cut->of + cut->clustering->cells, next = 0;
    for (size_t i = 0; i < cut->clustering->cells; i++) {
        ret_part[i] =
            cut->of[i] != NOBODY ? cut->of[i] : find_nearest(cut, parts, i);
    }
    for (size_t c = 0; c < parts; c++) {
        number[c] = NOBODY;
    }
    for (size_t i = 0; i < cut->clustering->cells; i++) {
        if (number[ret_part[i]] == NOBODY) {
            number[ret_part[i]] = next++;
        }
        ret_part[i] = number[ret_part[i]];
    }
}

enum sotto_status
clustering_cut(const struct clustering *clustering, size_t parts,
               uint32_t *ret_part, struct sotto_error *err)
{
    bool placed = clustering->site != NULL;
    size_t d = placed ? clustering->site_d : clustering->d;
    size_t cells = clustering->cells, width = parts * d;
    struct cut cut = {.clustering = clustering,
                      .site = placed ? clustering->site : clustering->centre,
                      .d = d,
                      .nodes = 2 * cells - 1,
                      .node = malloc(2 * cells * sizeof(struct node)),
                      .of = malloc(2 * cells * sizeof(uint32_t)),
                      .mean = calloc(width + parts, sizeof(double))};
    double least;
    enum sotto_status status;
    if (cut.node == NULL || cut.of == NULL || cut.mean == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = grow_nodes(&cut, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    cut.count = cut.mean + width;
    least = cut.node[cut.nodes - 1].weight * clustering->least / (double)parts;
    while (split_groups(&cut, parts, least) < parts) {
        least /= 2;
    }
    fill_parts(&cut);
    number_parts(&cut, parts, ret_part);
done:
    host_wipe_free(cut.mean, (width + parts) * sizeof *cut.mean);
    free(cut.node);
    free(cut.of);
    return status;
}
