/*
 * png_folder.h: a table from a folder of PNG files.
 */
#ifndef SOTTO_TABLE_PNG_FOLDER_H
#define SOTTO_TABLE_PNG_FOLDER_H

#include "table/table.h"

/*
 * FOLDER/x.png, or FOLDER/CLASS/x.png for images with labels, as
 * sotto_table_read says. Names that begin with a point, files whose names do
 * not end in .png and folders in class folders are passed over; links are
 * followed.
 *
 * `samples` is 0, or on a device what an image must have, below 2^32: then a
 * file that cannot be read, or has another size, is a row whose image is
 * missing, whatever the others are. Statuses: IO, INPUT, LIMIT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status png_folder_read(const char *path,
                                                size_t samples,
                                                struct sotto_table **ret_table,
                                                struct sotto_error *err);

#endif
