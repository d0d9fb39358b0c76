/* The operations on vectors of devices with members: each operation and each pass calls that of each member, stage by
   stage, with the member's part of the vectors and its copy of the scalars. */
#include "base/err.h"
#include "machine/passes.h"
#include "machine/vec_ops.h"
#include "multi.h"

#include <cstring>
#include <type_traits>

void multi_sit(struct device *d, int stage)
{
    multi *m = multi_of(d);
    bool peer = transport_of(d) == TRANSPORT_PEER;
    for (int k = 0; k < m->n; k++) {
        seat *t = &m->seat[k];
        t->stage = stage;
        t->at = t->sums = 0;
        t->epoch = m->epoch;
        t->peers = peer;
        t->concurrent = peer && m->concurrent;
        t->apart = t->concurrent && !m->shared_gpu;
        t->targets = peer ? m->n : 1;
        /* Ctrl-C may have ended the last operation after some members had counted it, if launches run on the host */
        if (stage == 0 && m->member[k]->ops->plain) *t->count = m->epoch;
        for (int j = 0; j < t->targets; j++) {
            int to = peer ? j : k;
            t->to[j] = m->seat[to].box;
        }
        m->member[k]->seat = t;
    }
}

void multi_stand(struct device *d)
{
    multi *m = multi_of(d);
    for (int k = 0; k < m->n; k++) m->member[k]->seat = nullptr;
}

namespace
{

/* The first argument that points to vectors decides how the elements of all are divided. */
const block *vectors_among(multi *)
{
    return nullptr;
}
template <typename A, typename... REST> const block *vectors_among(multi *m, A a, REST... rest)
{
    if constexpr (std::is_pointer_v<A>) {
        const block *b = multi_block(m, a);
        if (b && b->vectors) return b;
    }
    return vectors_among(m, rest...);
}

/* An argument as member k gets it: its part of a vector, its copy of other memory, its number of elements. */
template <typename A> A for_member(multi *m, const block *like, int k, A a)
{
    if constexpr (std::is_pointer_v<A>) {
        const block *b = multi_block(m, a);
        return b ? (A)multi_part(b, a, k) : a;
    } else if constexpr (std::is_same_v<A, int64_t>) {
        int64_t rows = like ? like->first[SPLIT_MAX] : 0;
        return rows ? a / rows * (like->first[k + 1] - like->first[k]) : 0;
    } else {
        return a;
    }
}

/* Members of several kinds round differently: the scalars of member 0 count. An error shows at the next sync. */
void agree(device *d, void *s)
{
    multi *m = multi_of(d);
    double scalars[SCALARS];
    if (!m->mixed || !s || !d->ops->get(d, scalars, s, sizeof scalars, &m->pending)) return;
    d->ops->put(d, s, scalars, sizeof scalars, &m->pending);
}

/* The scalars are the first argument of type double *. */
void *scalars_among()
{
    return nullptr;
}
template <typename A, typename... REST> void *scalars_among(A a, REST... rest)
{
    if constexpr (std::is_same_v<A, double *>)
        return a;
    else
        return scalars_among(rest...);
}

/* Let every member do an operation, stage by stage: go(of, k) is the call for member k. `like` are vectors of the
   operation; NULL: it has none. s: the scalars. */
template <typename GO> void in_stages(device *d, const block *like, void *s, GO go)
{
    multi *m = multi_of(d);
    int stages = 1, sums = 0;
    for (int stage = 0; stage < stages; stage++) {
        multi_sit(d, stage);
        for (int k = 0; k < m->n; k++)
            if (multi_select(m->member[k], &m->pending)) go(m->member[k], k);
        stages = m->seat[0].at > 1 ? m->seat[0].at : 1;
        sums = m->seat[0].sums;
        /* every pass of these operations has sums, so stage 2 i sends those of pass i */
        if (sums && stage % 2 == 0) multi_sums_move(d, m->epoch + 1 + (unsigned)stage / 2, &m->pending);
        multi_stand(d);
    }
    m->epoch += (unsigned)sums;
    if (stages > 1 || !like) agree(d, s);
}

/* each<GET, FIELD>::go is the operation FIELD of a table; GET returns the table of a member. */
template <auto GET, auto FIELD> struct each;
template <auto GET, typename OPS, typename... A, void (*OPS::*FIELD)(device *, A...)> struct each<GET, FIELD> {
    static void go(device *d, A... a)
    {
        multi *m = multi_of(d);
        const block *like = vectors_among(m, a...);
        in_stages(d, like, scalars_among(a...),
                  [&](device *of, int k) { (GET(of)->*FIELD)(of, for_member(m, like, k, a)...); });
    }
};

const block *vectors_of(multi *m, const pass_call *c)
{
    for (int i = 0; i < c->vectors; i++)
        if (const block *b = vectors_among(m, c->vec[i])) return b;
    return nullptr;
}

template <auto OF, enum type T> auto table_of(device *d)
{
    return OF(d, T);
}

} // namespace

void multi_pass(const struct passes *p, const char *name, const struct pass_call *c)
{
    multi *m = multi_of(c->d);
    const block *like = vectors_of(m, c);
    in_stages(c->d, like, c->s, [&](device *of, int k) {
        pass_call own = *c;
        const void *vec[PASS_VECTORS_MAX];
        own.d = of;
        own.n = for_member(m, like, k, c->n);
        own.s = for_member(m, like, k, c->s);
        for (int i = 0; i < c->vectors; i++) vec[i] = for_member(m, like, k, c->vec[i]);
        own.vec = vec;
        pass_find(p, of, c->type, SUMS_BY_HOST, name)->run(&own);
    });
}

#define ONE(ops, of, T, field) .field = each<table_of<of, T>, &ops::field>::go

#define MULTI_VEC(id, T)                                                                        \
    extern "C" const struct vec_ops id;                                                         \
    const struct vec_ops id = {                                                                 \
        ONE(vec_ops, vec_ops_host_sums, T, copy),   ONE(vec_ops, vec_ops_host_sums, T, zero),   \
        ONE(vec_ops, vec_ops_host_sums, T, axpy),   ONE(vec_ops, vec_ops_host_sums, T, xpby),   \
        ONE(vec_ops, vec_ops_host_sums, T, mul),    ONE(vec_ops, vec_ops_host_sums, T, dot),    \
        ONE(vec_ops, vec_ops_host_sums, T, div),    ONE(vec_ops, vec_ops_host_sums, T, jacobi), \
        ONE(vec_ops, vec_ops_host_sums, T, affine), ONE(vec_ops, vec_ops_host_sums, T, probe),  \
        ONE(vec_ops, vec_ops_host_sums, T, widen),  ONE(vec_ops, vec_ops_host_sums, T, narrow), \
        ONE(vec_ops, vec_ops_host_sums, T, record),                                             \
    }
MULTI_VEC(multi_vec_f32, T_F32);
MULTI_VEC(multi_vec_f64, T_F64);
MULTI_VEC(multi_vec_c32, T_C32);
MULTI_VEC(multi_vec_c64, T_C64);
