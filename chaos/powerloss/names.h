/* Files whose names go, kept until the disk knows that they have gone. */
#pragma once
#include <limits.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)
/* Where they are kept: on the disk's file system. */
void names_open(const char *directory);
/* Before a file's name is removed or given to another file. `kept` is what it is called meanwhile; 0 when it is none of the disk's at `data`. */
int names_keep(int at, const char *path, const char *data, char kept[PATH_MAX]);
/* The name has gone for good; 1 when it was the file's last, with which file that was. */
int names_let_go(const char *kept, dev_t *dev, ino_t *ino);
/* Gives all that are kept their names back, the last one first. */
void names_give_back(void);
#pragma GCC visibility pop
