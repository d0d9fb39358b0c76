/* The main program: reads the options and files, and runs the commands from -c, scripts, a pipe, or the prompt. */
#include "base/err.h"
#include "base/text.h"
#include "lab/lab.h"
#include "language/kinds.h"
#include "language/manual.h"
#include "language/options.h"
#include "language/protocol.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/front.h"
#include "session/session.h"
#include "ui/run.h"
#include "ui/view.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a waiting thread of OpenMP spins before it sleeps: 1000 rounds, about as long as it takes to wake a thread.
   By default, libgomp lets waiting threads spin for a few ms. On a busy machine, spinning threads then occupy
   processors that worker threads need. */
static const char spin[] = "GOMP_SPINCOUNT", spin_turns[] = "1000";
static bool spin_is_ours;

/* Called before libgomp reads the environment. Variables that the user has set stay unchanged. */
__attribute__((constructor(101))) static void spin_briefly(void)
{
    spin_is_ours = !getenv("OMP_WAIT_POLICY") && !getenv(spin) && !setenv(spin, spin_turns, 1);
}

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, ASKED_MAX = 256 };

/* What -c, -f and -v request, in the order of the command line. */
struct todo {
    int option;
    const char *text;
};
struct options {
    enum out_mode mode;
    bool plain, serve;
    const char *socket; /* --serve=unix:PATH; NULL: standard input and output */
    const char *device;
    bool allowed[PERMISSIONS];
    struct todo todo[ASKED_MAX];
    int ntodo;
    char **file;
    int nfiles;
};

/* Replace a missing standard stream by a stream that fails, so that no file opened later gets its file descriptor. */
static void keep_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) == -1) return;
}

enum {
    OPT_JSON = 256,
    OPT_CSV,
    OPT_PLAIN,
    OPT_SERVE,
    OPT_DEVICE,
    OPT_ALLOW,
    OPT_VERSION,
    OPT_HELP,
    OPT_MAN,
    OPT_COMPLETION
};

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"csv", no_argument, NULL, OPT_CSV},
    {"plain", no_argument, NULL, OPT_PLAIN},
    {"serve", optional_argument, NULL, OPT_SERVE},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"allow", required_argument, NULL, OPT_ALLOW},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {"man", no_argument, NULL, OPT_MAN},
    {"completion", required_argument, NULL, OPT_COMPLETION},
    {0},
};

static bool wrong_usage(const char *why)
{
    fprintf(stderr, "warpspy: %s; see warpspy --help\n", why);
    return false;
}

static bool take_permission(struct options *o, const char *name)
{
    enum permission p = permission_find(name);
    if (p == PERMISSIONS) return wrong_usage("--allow needs a permission: shell or files");
    return o->allowed[p] = true;
}

static bool take_serve(struct options *o, const char *where)
{
    static const char unix_socket[] = "unix:";
    size_t n = strlen(unix_socket);
    if (where && strncmp(where, unix_socket, n)) return wrong_usage("--serve accepts a socket: --serve=unix:PATH");
    o->socket = where ? where + n : NULL;
    return o->serve = true;
}

static bool take_option(struct options *o, int c)
{
    switch (c) {
    case OPT_JSON:
        o->mode = OUT_JSON;
        return true;
    case OPT_CSV:
        o->mode = OUT_CSV;
        return true;
    case OPT_PLAIN:
        o->plain = true;
        return true;
    case OPT_SERVE:
        return take_serve(o, optarg);
    case OPT_DEVICE:
        o->device = optarg;
        return true;
    case OPT_ALLOW:
        return take_permission(o, optarg);
    case OPT_VERSION:
    case OPT_HELP:
    case OPT_MAN:
    case OPT_COMPLETION:
    case 'c':
    case 'f':
    case 'v':
        if (o->ntodo == ASKED_MAX) return wrong_usage("too many options");
        o->todo[o->ntodo++] = (struct todo){c, optarg};
        return true;
    default:
        return false;
    }
}

/* Report what is wrong with an option, because getopt's own message would print the control bytes of the option. `c` is
   the result of getopt, and `word` is the word that getopt read. */
static bool wrong_option(int c, const char *word)
{
    char letter[] = {'-', (char)optopt, 0}, safe[256], why[320];
    bool is_long = !optopt || optopt >= OPT_JSON; /* optopt is 0 for an unknown long option */
    const char *option = is_long ? word : letter;
    print_safe(option, strlen(option), 60, safe, sizeof safe);
    const char *fault = c == ':'             ? "needs a value after it"
                        : optopt >= OPT_JSON ? "takes no value"
                                             : "is not an option, or is the beginning of several options";
    snprintf(why, sizeof why, "`%s` %s", safe, fault);
    return wrong_usage(why);
}

static bool parse(int argc, char **argv, struct options *o)
{
    int c;
    while ((c = getopt_long(argc, argv, ":c:f:v:h", long_options, NULL)) != -1) {
        if (c == '?' || c == ':') return wrong_option(c, argv[optind - 1]);
        if (!take_option(o, c == 'h' ? OPT_HELP : c)) return false;
    }
    o->file = argv + optind;
    o->nfiles = argc - optind;
    if (o->serve && (o->ntodo || o->mode != OUT_TEXT))
        return wrong_usage("--serve goes with files, --plain, --device and --allow only");
    return true;
}

/* Print what --help, --version or a similar option requests. Returns false if c is not an option of this kind. */
static bool tell(const struct todo *t, int *status)
{
    if (t->option == OPT_HELP)
        manual_usage(stdout);
    else if (t->option == OPT_MAN)
        manual_page(stdout);
    else if (t->option == OPT_VERSION)
        printf("warpspy %s\n", WARPSPY_VERSION);
    else if (t->option == OPT_COMPLETION && !manual_completion(stdout, t->text))
        *status = STATUS_USAGE;
    else
        return t->option == OPT_COMPLETION;
    return true;
}

/* If --version, --help or a similar option was given, print the answer and ignore everything else. Returns the exit
   status, or -1 if there was no such option. */
static int answer(const struct options *o)
{
    int status = 0;
    for (int i = 0; i < o->ntodo; i++) {
        if (!tell(&o->todo[i], &status)) continue;
        if (status) return wrong_usage("--completion needs the name of a shell: bash or zsh"), status;
        if (!fflush(stdout) && !ferror(stdout)) return 0;
        fprintf(stderr, "warpspy: cannot write: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    return -1;
}

static bool run_script(struct session *s, const char *name)
{
    return run_words(s, 2, (const char *const[]){"source", name});
}

static bool load_files(struct session *s, const struct options *o, bool stop)
{
    bool all = true;
    for (int i = 0; i < o->nfiles && !s->quit && (all || !stop); i++)
        all &= run_words(s, 2, (const char *const[]){"load", o->file[i]});
    return all;
}

/* -v names a view, or a file to load and view. */
static bool run_view(struct session *s, const char *what)
{
    if (registry_find(s->front->views, what) || access(what, F_OK))
        return run_words(s, 2, (const char *const[]){"view", what});
    return run_words(s, 2, (const char *const[]){"load", what}) && run_words(s, 1, (const char *const[]){"view"});
}

static bool run_todo(struct session *s, const struct options *o)
{
    bool ok = true;
    for (int i = 0; i < o->ntodo && ok && !s->quit; i++) {
        const struct todo *t = &o->todo[i];
        if (t->option == 'c')
            ok = run_line(s, t->text);
        else if (t->option == 'f')
            ok = run_script(s, t->text);
        else
            ok = run_view(s, t->text);
    }
    return ok;
}

/* Did the user request a view on a terminal that cannot show it? In that case, the error has been printed, and the
   prompt follows. */
static bool wants_prompt(const struct session *s, const struct options *o)
{
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    return terminal && s->current && o->todo[o->ntodo - 1].option == 'v' && !ui_has_screen();
}

static int work(struct session *s, const struct options *o)
{
    bool ok = load_files(s, o, o->ntodo > 0);
    if (o->serve) return protocol_run(s) ? 0 : STATUS_FAILED;
    if (o->ntodo) {
        ok = ok && run_todo(s, o);
        return ok ? 0 : wants_prompt(s, o) ? ui_go_on(s) : STATUS_FAILED;
    }
    if (s->interactive) return ui_run(s);
    return run_stream(s, stdin, "stdin", false) && ok ? 0 : STATUS_FAILED;
}

/* Apply the saved options; an invalid file does not prevent the program from starting. */
static void use_options(struct session *s)
{
    char warned[1024];
    options_load(s, warned, sizeof warned);
    if (*warned) out_note(s->out, "%s", warned);
}

static int run_session(const struct options *o)
{
    struct session s;
    struct err e = {0};
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    int status = STATUS_FAILED;
    if (o->serve && !protocol_open(o->socket, &e)) goto end;
    FILE *data = o->serve ? protocol_data() : stdout, *messages = o->serve ? protocol_messages() : stderr;
    if (!session_new(&s, data, messages, o->serve ? OUT_JSON : o->mode, &e)) goto out;
    s.plain = o->plain;
    memcpy(s.allowed, o->allowed, sizeof s.allowed);
    if (o->serve && !protocol_begin(&s, &view_registry)) goto out;
    use_options(&s);
    s.batch = !o->serve && (o->ntodo || !terminal);
    s.interactive = terminal && !o->ntodo && !o->serve;
    if (o->device && !kind_check("DEVICE", &s, "--device", o->device, &e))
        status = STATUS_USAGE;
    else if (o->device && !(s.dev = device_open(o->device, &e)))
        status = STATUS_FAILED;
    else if (ui_attach(&s, &e)) {
        if (s.batch) session_catch_interrupt(true);
        status = work(&s, o);
        ui_detach(&s);
    }
out:
    session_free(&s);
    lab_close();
    devices_close();
end:
    if (o->serve) protocol_close();
    if (e.code) fprintf(stderr, "warpspy: %s%s\n", e.text, status == STATUS_USAGE ? "; see warpspy --help" : "");
    return status;
}

int main(int argc, char **argv)
{
    static struct options o;
    if (spin_is_ours) unsetenv(spin); /* do not pass our value on to the programs that this program starts */
    keep_streams();
    lab_work_if_asked(argc, argv);
    setlocale(LC_CTYPE, ""); /* LC_NUMERIC stays "C" */
    if (!parse(argc, argv, &o)) return STATUS_USAGE;
    int status = answer(&o);
    return status >= 0 ? status : run_session(&o);
}
