/* Finding the slot of an entry: immediately, or, if another pane moved the shared cursor, while no key comes. */
#include "formats/format.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/explorer.h"
#include "ui/screen.h"
#include "ui/view.h"
#include "view_layout.h"
#include "view_state.h"

enum { SLOTS_AT_ONCE = 1 << 14 };

static bool is_entry(const struct stored *S, int k, int64_t i, int64_t row, int64_t col)
{
    struct place p = layout_slot(S, k, i);
    return p.kind == SLOT_ENTRY && p.row == row && (col < 0 || p.col == col);
}

/* Array k has no entries if its first slot is a pointer. */
static bool holds_entries(const struct stored *S, int k)
{
    return S->a[k].n && layout_slot(S, k, 0).kind != SLOT_POINTER;
}

/* The number of entries before this entry if columns are stored one after another. */
static int64_t rank_by_columns(const struct csr *A, int64_t entry)
{
    int col = A->col[entry];
    int64_t n = 0;
#pragma omp simd reduction(+ : n)
    for (int64_t i = 0; i < entry; i++) n += A->col[i] <= col;
#pragma omp simd reduction(+ : n)
    for (int64_t i = entry + 1; i < A->nnz; i++) n += A->col[i] < col;
    return n;
}

static bool choose(struct view_state *st, int k, int64_t i)
{
    struct layout_state *own = st->own;
    own->array = k;
    st->item = i;
    return true;
}

/* Move the cursor to the first slot of array k with an entry of the row; if col is not -1, the entry must be in column
   col. In formats that keep the order of the entries, `entry` is also the number of the slot. In formats that store the
   entries column by column, the number of the slot is rank_by_columns. */
static bool find_slot(struct view_state *st, const struct stored *S, int k, const struct csr *A, int64_t entry,
                      int64_t row, int64_t col)
{
    int64_t n = S->a[k].n, i = entry;
    if (!holds_entries(S, k)) return false;
    bool found = i < n && is_entry(S, k, i, row, col);
    if (!found && n >= A->nnz) i = rank_by_columns(A, entry), found = is_entry(S, k, i, row, A->col[entry]);
    if (!found)
        for (i = 0; i < n && !is_entry(S, k, i, row, col);) i++;
    return i < n && choose(st, k, i);
}

/* The number of the entry in csr, or of the row's first entry if col is -1; -1: there is none. */
static int64_t entry_of(const struct csr *A, int64_t row, int64_t col)
{
    if (col >= 0) return csr_find(A, row, col);
    return csr_row_length(A, row) ? csr_start(A, row) : -1;
}

/* Look for the slot where formats that keep the order of the entries have it; if it is elsewhere, layout_work looks at
   all slots. */
static void find_soon(struct view_state *st, const struct stored *S, int64_t entry, int64_t row, int64_t col)
{
    struct layout_state *own = st->own;
    int first = own->array;
    own->search = (struct slot_search){.on = true, .first = first, .row = row, .col = col};
    for (int t = 0; t < S->narrays; t++) {
        int k = (first + t) % S->narrays;
        if (!holds_entries(S, k) || entry >= S->a[k].n || !is_entry(S, k, entry, row, col)) continue;
        choose(st, k, entry);
        own->search.on = false;
        return;
    }
}

bool layout_go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    struct layout_state *own = st->own;
    const struct stored *S = layout_shown(s, st);
    const struct csr *A = &s->current->csr;
    const struct explorer *x = screen_explorer(s);
    int64_t entry = entry_of(A, row, col);
    own->search.on = false;
    if (entry < 0 || !S) return false;
    if (x->on && x->pane != st->view) return find_soon(st, S, entry, row, col), true;
    for (int k = 0; k < S->narrays; k++)
        if (find_slot(st, S, (own->array + k) % S->narrays, A, entry, row, col)) return true;
    return false;
}

enum work layout_work(struct session *s, struct view_state *st)
{
    struct layout_state *own = st->own;
    struct slot_search *f = &own->search;
    const struct stored *S = layout_shown(s, st);
    if (!f->on || !S) return WORK_NONE;
    int k = (f->first + f->arrays) % S->narrays;
    int64_t n = holds_entries(S, k) ? S->a[k].n : 0, end = f->at + SLOTS_AT_ONCE < n ? f->at + SLOTS_AT_ONCE : n;
    for (; f->at < end; f->at++)
        if (is_entry(S, k, f->at, f->row, f->col)) {
            choose(st, k, f->at);
            f->on = false;
            return WORK_DRAW;
        }
    if (f->at < n) return WORK_ON;
    f->at = 0;
    f->on = ++f->arrays < S->narrays;
    return f->on ? WORK_ON : WORK_NONE;
}
