/* Finding and opening NVIDIA's libraries at their first use. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

#include "base/base.h"
#include "gpu/dev.h"

#include <dlfcn.h>
#include <stdio.h>

/* Open lib`stem`.so.VERSION for the first available version, from the loader's search path or the toolkit's default
   folder. NULL: no version is available; dlerror() gives the reason. */
static inline void *library_open(const char *stem, const int *versions, int n)
{
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/"};
    void *library = NULL;
    for (int v = 0; v < n; v++)
        for (int f = 0; f < COUNT(folders) && !library; f++) {
            char name[128];
            snprintf(name, sizeof name, "%slib%s.so.%d", folders[f], stem, versions[v]);
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
    return library;
}

/* In vendor_lu.cu: discard the handles and streams for d before a reset. */
void vendor_lu_forget(const struct device *d);

#endif
