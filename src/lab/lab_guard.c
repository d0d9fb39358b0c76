/* Limits of the process that runs users' kernels, and the report of its faults. The process may compute, read files and
   print; every other system call ends it. */
#include "base/base.h"
#include "lab_job.h"

#include <errno.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes of a file that the process may write, also with a GPU, whose driver has files of its own; and open files. */
enum { PRINTED_MAX = 1 << 16, GPU_FILES_MAX = 1 << 28, FILES_MAX = 64, SIGNAL_STACK = 64 * 1024 };

static struct {
    uintptr_t base, from, end; /* load address of the shared object, and its code */
    bool ending;               /* the process ends as it should, or a fault was sent */
} guard;

/* ---- replies ---- */

static bool write_all(const void *from, uint64_t n)
{
    const char *p = from;
    while (n) {
        ssize_t k = write(FD_REPLY, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k;
        n -= (uint64_t)k;
    }
    return true;
}

bool lab_guard_send(enum reply_kind kind, int n, const void *const *part, const uint64_t *bytes)
{
    struct reply r = {.kind = kind};
    for (int i = 0; i < n; i++) r.bytes += bytes[i];
    bool ok = write_all(&r, sizeof r);
    for (int i = 0; i < n && ok; i++) ok = write_all(part[i], bytes[i]);
    return ok;
}

void lab_guard_end(void)
{
    guard.ending = true;
    fflush(stdout);
    _exit(0);
}

/* ---- faults ---- */

static int find_code(struct dl_phdr_info *info, size_t size, void *user)
{
    uintptr_t inside = (uintptr_t)user;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || inside < from || inside >= from + p->p_memsz) continue;
        guard.base = info->dlpi_addr;
        for (int j = 0; j < info->dlpi_phnum; j++) {
            const ElfW(Phdr) *q = &info->dlpi_phdr[j];
            if (q->p_type != PT_LOAD || !(q->p_flags & PF_X)) continue;
            guard.from = guard.base + q->p_vaddr;
            guard.end = guard.from + q->p_memsz;
        }
        return 1;
    }
    return 0;
}

void lab_guard_object(const void *address)
{
    dl_iterate_phdr(find_code, (void *)(uintptr_t)address);
}

static void add_address(struct reply_fault *f, uintptr_t pc)
{
    if (pc < guard.from || pc >= guard.end || f->naddresses == ADDRESSES_MAX) return;
    f->address[f->naddresses++] = pc - guard.base;
}

/* Words of a lane's stack that point into the kernel's code are likely return addresses. The sanitizer must not check
   these reads. */
__attribute__((no_sanitize_address)) static void add_callers(struct reply_fault *f, uintptr_t sp)
{
    uintptr_t end = (uintptr_t)emu_stack_end();
    for (uintptr_t p = (sp + 7) & ~(uintptr_t)7; p + 8 <= end && f->naddresses < ADDRESSES_MAX; p += 8) {
        if (emu_in_guard((const void *)p)) continue;
        add_address(f, *(const uintptr_t *)p - 1);
    }
}

static _Noreturn void send_fault(struct reply_fault *f, uintptr_t pc, uintptr_t sp)
{
    const void *part[] = {f};
    const uint64_t bytes[] = {sizeof *f};
    if (guard.ending) _exit(1);
    guard.ending = true;
    add_address(f, pc);
    if (emu_running(f->thread, sizeof f->thread) && sp) add_callers(f, sp);
    lab_guard_send(REPLY_FAULT, 1, part, bytes);
    _exit(1);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    struct reply_fault f = {.signal = signal};
    uintptr_t pc = 0, sp = 0;
#if defined __x86_64__
    pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    pc = (uintptr_t)u->uc_mcontext.pc;
    sp = (uintptr_t)u->uc_mcontext.sp;
#else
    (void)u;
#endif
    if (signal == SIGSYS) f.system_call = info->si_syscall;
    if (signal == SIGSEGV) f.overflow = emu_in_guard(info->si_addr);
    send_fault(&f, pc, sp);
}

/* The kernel called exit. */
static void on_exit_call(void)
{
    struct reply_fault f = {.signal = SIGNAL_EXIT};
    if (!guard.ending) send_fault(&f, 0, (uintptr_t)__builtin_frame_address(0));
}

static bool catch_faults(struct err *e)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGALRM, SIGXCPU, SIGTRAP};
    stack_t own = {.ss_size = SIGNAL_STACK, .ss_sp = malloc(SIGNAL_STACK)};
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    bool ok = own.ss_sp && !sigaltstack(&own, NULL) && !atexit(on_exit_call);
    for (int i = 0; ok && i < COUNT(signals); i++) ok = !sigaction(signals[i], &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return ok || fail(e, E_INTERNAL, "cannot catch the faults of a kernel: %s", strerror(errno));
}

/* ---- limits ---- */

static bool limit(int what, rlim_t value)
{
    struct rlimit old, l = {value, value};
    if (getrlimit(what, &old)) return false;
    if (old.rlim_max < value) l.rlim_cur = l.rlim_max = old.rlim_max;
    return !setrlimit(what, &l);
}

/* Bytes of address space in use. */
static int64_t address_space(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static bool set_limits(const struct job *job, struct err *e)
{
    bool ok = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, job->on_gpu ? GPU_FILES_MAX : PRINTED_MAX);
#ifndef __SANITIZE_ADDRESS__
    if (!job->on_gpu) ok = ok && limit(RLIMIT_AS, (rlim_t)(address_space() + job->memory));
#else
    (void)address_space;
#endif
    if (!job->on_gpu) ok = ok && limit(RLIMIT_NOFILE, FILES_MAX);
    return ok || fail(e, E_INTERNAL, "cannot limit a kernel: %s", strerror(errno));
}

/* ---- system calls ---- */

#if defined __x86_64__
#define GUARD_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define GUARD_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef GUARD_ARCH
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
/* Allow a call; allow it if none of the bits of an argument is set; allow it if an argument has this value. */
#define CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ALLOW,
#define CALL_UNLESS(name, n, bits)                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(args[n]), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), ALLOW, REFUSE
#define CALL_WITH(name, n, value)                                         \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(args[n]), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), ALLOW, REFUSE
/* O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, and the bit of O_TMPFILE that is not O_DIRECTORY. */
enum { WRITES = 1 | 2 | 0100 | 01000 | 02000 | 020000000 };

static bool restrict_calls(void)
{
    const struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, GUARD_ARCH, 1, 0),
        REFUSE,
        LOAD(nr),
#include "lab_calls.def"
#ifdef __x86_64__
        CALL_UNLESS(open, 1, WRITES),
#endif
        CALL_UNLESS(openat, 2, WRITES),
        CALL_WITH(tgkill, 0, (uint32_t)getpid()), /* abort */
        CALL_WITH(prlimit64, 2, 0),               /* reads a limit; the upper half of the pointer is not checked */
        REFUSE,
    };
    const struct sock_fprog program = {COUNT(filter), (struct sock_filter *)filter};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static bool restrict_calls(void)
{
    return false;
}
#endif

/* Without seccomp, the limits above and the process group must do. The driver of a GPU needs more system calls. The
   leak checker of the address sanitizer starts a thread. */
bool lab_guard_begin(const struct job *job, struct err *e)
{
    if (!catch_faults(e) || !set_limits(job, e)) return false;
    if (!job->on_gpu) restrict_calls();
    return true;
}
