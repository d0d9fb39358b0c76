/* PASSES(NAME, begin, step) ends gpu/kernels/k_NAME.cu and makes the tables of the solver's passes. A pass is the name
   of a function template with the parameters (struct device *d, int64_t n, double *s, ...), whose template parameter AT
   says where it runs: its vectors have n elements of type AT::real (see vec.h). Its further parameters are pointers to
   memory on the device, int, or bool. slv_NAME.c calls it as PASS(v, NAME, step, e, VECTORS(u, x), NUMBERS(k)). */
#ifndef KERNEL_PASSES_H
#define KERNEL_PASSES_H

#include "columns.h"
#include "wide.h"

#include "machine/passes.h"

#include <type_traits>

namespace KERNEL_SPACE
{

/* The next pointer or the next number of a call. */
template <typename A> static A pass_argument(const struct pass_call *c, int &vectors, int &numbers)
{
    if constexpr (std::is_pointer_v<A>)
        return (A)c->vec[vectors++];
    else
        return (A)c->number[numbers++];
    static_assert(std::is_pointer_v<A> || std::is_same_v<A, int> || std::is_same_v<A, bool>, "see pass_call.number");
}

/* GO as an entry of a table; T is the type of an element. */
template <typename T, auto GO> struct pass_entry;
template <typename T, typename... A, void (*GO)(struct device *, int64_t, double *, A...)> struct pass_entry<T, GO> {
    static constexpr int vectors = (0 + ... + (int)std::is_pointer_v<A>), numbers = (int)sizeof...(A) - vectors;
    static_assert(vectors <= PASS_VECTORS_MAX);

    /* A constructor, because the arguments in braces are evaluated in their order. */
    struct call {
        call(const struct pass_call *c, A... a) { GO(c->d, c->n / wide_of<T>::PARTS, c->s, a...); }
    };
    static void run(const struct pass_call *c)
    {
        int v = 0, k = 0;
        (void)v, (void)k;
        (void)call{c, pass_argument<A>(c, v, k)...};
    }
};

} // namespace KERNEL_SPACE

/* FOR_EACH(f, a, b, c) is f(a) f(b) f(c), for up to 17 arguments: each scan of the preprocessor expands one more. */
#define FOR_EACH(f, ...) SCAN(FOR_EACH_NEXT(f, __VA_ARGS__))
#define FOR_EACH_NEXT(f, a, ...) f(a) __VA_OPT__(FOR_EACH_LATER NO_ARGUMENTS(f, __VA_ARGS__))
#define FOR_EACH_LATER() FOR_EACH_NEXT
#define NO_ARGUMENTS ()
#define SCAN(...) SCAN_4(SCAN_4(SCAN_4(SCAN_4(__VA_ARGS__))))
#define SCAN_4(...) SCAN_1(SCAN_1(SCAN_1(SCAN_1(__VA_ARGS__))))
#define SCAN_1(...) __VA_ARGS__

/* The passes of real vectors; PASSES_COLUMNS: also of several columns at a time; PASSES_COMPLEX: of these and of
   complex vectors; PASSES_COMPLEX_ALONE: of real vectors, and of complex vectors only if the device adds the sums. */
#define PASSES(id, ...) PASSES_OF(id, REAL_TYPES, REAL_TYPES, NO_TYPES, __VA_ARGS__)
#define PASSES_COLUMNS(id, ...) PASSES_OF(id, REAL_TYPES, REAL_TYPES, REAL_TYPES, __VA_ARGS__)
#define PASSES_COMPLEX(id, ...) PASSES_OF(id, ALL_TYPES, ALL_TYPES, REAL_TYPES, __VA_ARGS__)
#define PASSES_COMPLEX_ALONE(id, ...) PASSES_OF(id, ALL_TYPES, REAL_TYPES, NO_TYPES, __VA_ARGS__)

#define NO_TYPES(table, AT) nullptr
#define REAL_TYPES(table, AT) table<AT<float>>, table<AT<double>>
#define ALL_TYPES(table, AT) REAL_TYPES(table, AT), table<AT<cplx<float>>>, table<AT<cplx<double>>>
#define PASS_ENTRY(name)                                                                                        \
    {#name, pass_entry<typename AT::real, name<AT>>::vectors, pass_entry<typename AT::real, name<AT>>::numbers, \
     pass_entry<typename AT::real, name<AT>>::run},
#define PASSES_OF(id, types, host_types, column_types, ...)                                                   \
    namespace KERNEL_SPACE                                                                                    \
    {                                                                                                         \
    template <typename AT> constexpr struct pass passes_##id[] = {FOR_EACH(PASS_ENTRY, __VA_ARGS__){}};       \
    }                                                                                                         \
    PASS_TABLES(VEC_SYMBOL(passes_##id), passes_##id, types, on_gpu, host_types, gpu_then_host, column_types, \
                columns_on_gpu)                                                                               \
    HOST_PASS_TABLES(id, types, host_types, column_types)
#define PASS_TABLES(symbol, table, types, AT, host_types, HOST_AT, column_types, COLUMN_AT)       \
    extern "C" const struct pass_tables symbol;                                                   \
    const struct pass_tables symbol = {{{types(KERNEL_SPACE::table, KERNEL_SPACE::AT)},           \
                                        {host_types(KERNEL_SPACE::table, KERNEL_SPACE::HOST_AT)}, \
                                        {column_types(KERNEL_SPACE::table, KERNEL_SPACE::COLUMN_AT)}}};
#ifdef __CUDACC__
#define HOST_PASS_TABLES(id, types, host_types, column_types)
#else
#define HOST_PASS_TABLES(id, types, host_types, column_types)                                               \
    PASS_TABLES(cpu_vec_passes_##id, passes_##id, types, on_host, host_types, host_then_host, column_types, \
                columns_on_host)
#endif

#endif
