/*
 * result_page.h: one page of all results, from the files of a folder.
 */
#ifndef SOTTO_EXPERIMENT_RESULT_PAGE_H
#define SOTTO_EXPERIMENT_RESULT_PAGE_H

#include "experiment/result_folder.h"

struct host_text;

/*
 * Adds the page. `results` is the folder, where it is looked up which pictures
 * there are; `link` is what links to its files begin with. Lines of prose have
 * 100 columns at most.
 */
void result_page(struct host_text *text, const struct result_folder *folder,
                 const char *results, const char *link);

#endif
