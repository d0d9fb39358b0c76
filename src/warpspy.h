/* Umbrella of the base and matrix headers. */
#ifndef WARPSPY_H
#define WARPSPY_H

#include "array.h"
#include "base.h"
#include "clock.h"
#include "csr.h"
#include "err.h"
#include "mem.h"
#include "reference.h"
#include "role.h"
#include "search.h"
#include "stored.h"
#include "text.h"
#include "threads.h"
#include "watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#endif
