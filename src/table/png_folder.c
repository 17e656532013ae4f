/*
 * png_folder.c: a table from a folder of PNG files.
 *
 * First the names are listed, then all headers are read, to know the shape and
 * to refuse what does not fit before much is done, then the files are decoded
 * into one block of samples.
 */
#include "table/png_folder.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "host/utf8.h"
#include "host/wipe.h"
#include "table/decimal_text.h"
#include "table/png_file.h"

struct names {
    char **name; /* sorted; each from malloc */
    size_t count, room;
};

/* The files, in the order of the rows, and what they are of. */
struct folder {
    struct names classes;
    struct names files; /* paths */
    size_t *class_end;  /* the file behind the last of each class; NULL: the
                           files have none */
    struct sotto_image image;
    size_t samples; /* of an image, on a device; 0: as the files say */
    struct sotto_error *err;
};

/* ---- Names -------------------------------------------------------------- */

static void
names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->name[i]);
    }
    free(names->name);
}

/* Takes `name`, also on failure; NULL is a lack of memory. */
static bool
names_add(struct names *names, char *name)
{
    char **more = NULL;
    if (name != NULL) {
        more = host_grow(names->name, sizeof *more, names->count, &names->room);
    }
    if (more == NULL) {
        free(name);
        return false;
    }
    names->name = more;
    more[names->count++] = name;
    return true;
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
names_sort(struct names *names, size_t from)
{
    if (names->count > from) {
        qsort(names->name + from, names->count - from, sizeof *names->name,
              compare_names);
    }
}

static bool
is_png(const char *name)
{
    size_t size = strlen(name);
    return size > 4 && strcasecmp(name + size - 4, ".png") == 0;
}

/* ---- Listing ------------------------------------------------------------ */

/* Adds one entry to the files, or to the classes if those are wanted. */
static bool
list_entry(const char *path, const char *name, struct names *files,
           struct names *classes)
{
    struct stat about;
    bool added = true;
    if (name[0] == '.') {
        return true;
    }
    char *full = host_text_path("%s/%s", path, name);
    if (full == NULL) {
        return false;
    }
    bool there = stat(full, &about) == 0;
    if (there && S_ISDIR(about.st_mode) && classes != NULL) {
        added = names_add(classes, host_text_copy(name, strlen(name)));
    } else if ((!there || S_ISREG(about.st_mode)) && is_png(name)) {
        return names_add(files, full); /* one not there: reading it says so */
    }
    free(full);
    return added;
}

static enum sotto_status
list(const char *path, struct names *files, struct names *classes,
     struct sotto_error *err)
{
    struct dirent *entry;
    bool added = true;
    size_t from = files->count;
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                         host_shown(path), strerror(errno));
    }
    while (added && (entry = readdir(dir)) != NULL) {
        added = list_entry(path, entry->d_name, files, classes);
    }
    (void)closedir(dir);
    if (!added) {
        return host_fail_memory(err);
    }
    names_sort(files, from);
    return SOTTO_STATUS_OK;
}

/* The files of class i come behind those before it. */
static enum sotto_status
list_class(struct folder *folder, const char *path, size_t i)
{
    const char *name = folder->classes.name[i];
    size_t size = strlen(name);
    if (host_utf8_check((const uint8_t *)name, size) != size) {
        return host_fail(folder->err, SOTTO_STATUS_INPUT, 0,
                         "%s: the name of a folder in it is not UTF-8: it "
                         "cannot be a label",
                         host_shown(path));
    }
    char *full = host_text_path("%s/%s", path, name);
    if (full == NULL) {
        return host_fail_memory(folder->err);
    }
    enum sotto_status status = list(full, &folder->files, NULL, folder->err);
    free(full);
    folder->class_end[i] = folder->files.count;
    return status;
}

static enum sotto_status
list_classes(struct folder *folder, const char *path)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t count = folder->classes.count;
    names_sort(&folder->classes, 0);
    folder->class_end = calloc(count, sizeof *folder->class_end);
    if (folder->class_end == NULL) {
        return host_fail_memory(folder->err);
    }
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        status = list_class(folder, path, i);
    }
    return status;
}

static enum sotto_status
list_all(struct folder *folder, const char *path)
{
    enum sotto_status status =
        list(path, &folder->files, &folder->classes, folder->err);
    size_t loose = folder->files.count;
    if (status == SOTTO_STATUS_OK && folder->classes.count > 0) {
        status = list_classes(folder, path);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (folder->files.count == 0) {
        return host_fail(folder->err, SOTTO_STATUS_INPUT, 0,
                         "%s: a folder with no PNG file in it: images are "
                         "read as FOLDER/*.png or FOLDER/CLASS/*.png",
                         host_shown(path));
    }
    if (loose > 0 && folder->files.count > loose) {
        return host_fail(folder->err, SOTTO_STATUS_INPUT, 0,
                         "%s: has PNG files both in itself and in folders: "
                         "put each into the folder of its class, or all of "
                         "them into one",
                         host_shown(path));
    }
    if (loose > 0) {
        free(folder->class_end);
        folder->class_end = NULL;
    }
    return SOTTO_STATUS_OK;
}

/* ---- Images ------------------------------------------------------------- */

/* The first file's shape, in colour if another has colours. */
static enum sotto_status
take_header(struct folder *folder, size_t row, const uint8_t *bytes,
            size_t size)
{
    const char *path = folder->files.name[row];
    struct sotto_image *all = &folder->image;
    struct sotto_image one;
    enum sotto_status status =
        png_file_header(bytes, size, host_shown(path), &one, folder->err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (row == 0) {
        *all = one;
    }
    if (one.height != all->height || one.width != all->width) {
        const char *first = strrchr(folder->files.name[0], '/') + 1;
        return host_fail(folder->err, SOTTO_STATUS_INPUT, 0,
                         "%s: has %u x %u pixels, but %.80s has %u x %u: all "
                         "must be of one size",
                         host_shown(path), one.width, one.height, first,
                         all->width, all->height);
    }
    all->channels = one.channels > all->channels ? one.channels : all->channels;
    return SOTTO_STATUS_OK;
}

/* Reads every file's header, or, with somewhere for them, its samples. */
static enum sotto_status
read_files(struct folder *folder, uint8_t *samples, size_t width)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t count = folder->files.count;
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        const char *path = folder->files.name[i];
        uint8_t *bytes;
        size_t size;
        status = host_file_read(path, PNG_FILE_MAX_BYTES, &bytes, &size,
                                folder->err);
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        status =
            samples == NULL
                ? take_header(folder, i, bytes, size)
                : png_file_decode(bytes, size, host_shown(path), &folder->image,
                                  samples + i * width, folder->err);
        host_wipe_free(bytes, size);
    }
    return status;
}

/*
 * Decodes a file into `width` samples, grey or of three channels, whichever
 * are so many. Total on content but for a lack of memory: a file that cannot
 * be read, or is of another size, leaves `ret_fits` clear.
 */
static enum sotto_status
decode_fitting(const char *path, uint8_t *samples, size_t width, bool *ret_fits)
{
    struct sotto_error why = {0};
    struct sotto_image one;
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, PNG_FILE_MAX_BYTES, &bytes, &size, &why);
    *ret_fits = false;
    if (status != SOTTO_STATUS_OK) {
        return status == SOTTO_STATUS_MEMORY ? status : SOTTO_STATUS_OK;
    }
    if (png_file_header(bytes, size, path, &one, &why) == SOTTO_STATUS_OK) {
        size_t pixels = (size_t)one.height * one.width;
        one.channels = pixels == width ? 1 : 3;
        *ret_fits = pixels * one.channels == width &&
                    png_file_decode(bytes, size, path, &one, samples, &why) ==
                        SOTTO_STATUS_OK;
    }
    host_wipe_free(bytes, size);
    return SOTTO_STATUS_OK;
}

/* Reads every file as a device does: `numbers` says which images are missing,
   by NaN. */
static enum sotto_status
read_fitting(struct folder *folder, uint8_t *samples, size_t width,
             double *numbers)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < folder->files.count && status == SOTTO_STATUS_OK;
         i++) {
        bool fits;
        status = decode_fitting(folder->files.name[i], samples + i * width,
                                width, &fits);
        numbers[i] = fits ? 0.0 : NAN;
    }
    return status == SOTTO_STATUS_OK ? status : host_fail_memory(folder->err);
}

/* Reads the headers, which give the images' shape, unless it is known. */
static enum sotto_status
find_shape(struct folder *folder, const char *path)
{
    struct sotto_image *image = &folder->image;
    if (folder->samples > 0) {
        *image = (struct sotto_image){1, (uint32_t)folder->samples, 1};
    }
    enum sotto_status status =
        folder->samples > 0 ? SOTTO_STATUS_OK : read_files(folder, NULL, 0);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    size_t width = (size_t)image->height * image->width * image->channels;
    if (checked_multiply(folder->files.count, (uint32_t)width) >
        TABLE_MAX_BYTES) {
        return host_fail(folder->err, SOTTO_STATUS_LIMIT, 0,
                         "%s: its images have more than %zu bytes, the most "
                         "that is read: split it",
                         host_shown(path), TABLE_MAX_BYTES);
    }
    return status;
}

/* Fills the one column of a table that has just been made. */
static enum sotto_status
fill_images(struct folder *folder, struct table_column *column)
{
    const struct sotto_image *image = &folder->image;
    struct table_block *block = column->block;
    size_t rows = folder->files.count;
    table_column_images(column, image);
    block->bytes = calloc(rows, column->width);
    block->size = block->bytes == NULL ? 0 : rows * column->width;
    if (folder->samples > 0) {
        column->numbers = calloc(rows, sizeof *column->numbers);
    }
    if (block->bytes == NULL ||
        (folder->samples > 0 && column->numbers == NULL)) {
        return host_fail_memory(folder->err);
    }
    return folder->samples > 0
               ? read_fitting(folder, block->bytes, column->width,
                              column->numbers)
               : read_files(folder, block->bytes, column->width);
}

/* A table of the one column. */
static enum sotto_status
make_images(struct folder *folder, const char *path,
            struct sotto_table **ret_table)
{
    enum sotto_status status = find_shape(folder, path);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct sotto_table *table = table_new_column(folder->files.count, "image");
    if (table == NULL) {
        return host_fail_memory(folder->err);
    }
    status = fill_images(folder, &table->columns[0]);
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(table);
        return status;
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}

/* ---- Labels ------------------------------------------------------------- */

/* Every class's name in turn becomes the text of its cells. */
static bool
fill_labels(const struct folder *folder, struct table_column *column,
            size_t rows)
{
    struct table_block *block = column->block;
    struct host_text text;
    host_text_init(&text, TABLE_MAX_BYTES);
    block->stride = 1;
    block->cells = calloc(rows, sizeof *block->cells);
    column->numbers = calloc(rows, sizeof *column->numbers);
    block->count = block->cells == NULL ? 0 : rows;
    bool filled = block->cells != NULL && column->numbers != NULL;

    size_t row = 0;
    for (size_t i = 0; filled && i < folder->classes.count; i++) {
        const char *name = folder->classes.name[i];
        struct table_cell cell = {.start = (uint32_t)text.size};
        size_t size = strlen(name);
        double number = NAN;
        cell.size = (uint32_t)size & 0xffff; /* NAME_MAX is 255 */
        cell.number = decimal_text_parse(name, size, &number) ? 1 : 0;
        if (!cell.number && folder->class_end[i] > row) {
            table_column_texts(column);
        }
        for (; row < folder->class_end[i]; row++) {
            block->cells[row] = cell;
            column->numbers[row] = number;
        }
        host_text_add(&text, name, size);
        filled = !text.failed;
    }
    block->bytes = (uint8_t *)text.data;
    block->size = text.size;
    return filled;
}

/* Joins the column of labels to the table. */
static enum sotto_status
add_labels(const struct folder *folder, struct sotto_table *table)
{
    struct sotto_table *labels = table_new_column(table->rows, "label");
    if (labels == NULL) {
        return host_fail_memory(folder->err);
    }
    enum sotto_status status =
        fill_labels(folder, &labels->columns[0], table->rows)
            ? sotto_table_join(table, labels, folder->err)
            : host_fail_memory(folder->err);
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(labels);
    }
    return status;
}

enum sotto_status
png_folder_read(const char *path, size_t samples,
                struct sotto_table **ret_table, struct sotto_error *err)
{
    struct folder folder = {.samples = samples, .err = err};
    struct sotto_table *table = NULL;
    enum sotto_status status = list_all(&folder, path);
    if (status == SOTTO_STATUS_OK) {
        status = make_images(&folder, path, &table);
    }
    if (table != NULL && folder.class_end != NULL) {
        status = add_labels(&folder, table);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(table);
    }
    names_clear(&folder.classes);
    names_clear(&folder.files);
    free(folder.class_end);
    return status;
}
