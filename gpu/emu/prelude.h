/* The headers that every user's kernel includes. `make` compiles this header in advance, because that is most of the
   time in which a kernel is compiled. */
#include "base/err.h"
#include "gpu/dialect.h"
#include "machine/kernel.h"
