/* Requests that the source makes and the compiled code does not (machine/as_compiled.h). */
#ifndef ELIDE_H
#define ELIDE_H

#include "scope_run.h"

/* The code as which new runs count; NULL: as the source. */
const struct as_compiled *elide_code(void);
/* A site was added: find its elision. */
void elide_site(struct scope_run *run, int site);
/* Does the compiled code leave out request r of the running block? */
bool elide_request(struct scope_thread *s, int warp, const struct request *r);
/* Does a request that the compiled code makes once for all lanes come before r of the same warp (NULL: the end of the
   block)? Such requests were elided. Call this until it returns false. */
bool elide_gathered(struct scope_thread *s, int warp, const struct request *r, struct request *out);
/* The block with this many warps has ended. */
void elide_block_end(struct scope_thread *s, int warps);
/* The number of registers of a thread that the code says of this function; 0: not known. */
int elide_registers(const struct scope_run *run, const char *function);

#endif
