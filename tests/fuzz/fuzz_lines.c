/* Run random command lines, session after session, each in a process of its own: fuzz_lines [seconds N] [lines N]
   [seed N] [each N]. The lines come from the registry of commands and the kinds of its grammars (kits/lines_kit.h).
   They run in a temporary folder, never start a shell, and read and write no file outside it. With a seed one session
   is repeated, its lines printed; without one sessions follow one another for the given time or number of lines, and
   the seeds and lines that failed are reported. A session fails if it crashes, leaks, does not end a line, prints a
   control byte, or prints JSON or a CSV heading that cannot be read. Build it with AddressSanitizer: `make fuzz-lines`.
 */
#include "base/clock.h"
#include "base/err.h"
#include "kits/lines_kit.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "report/output.h"
#include "session/session.h"
#include "ui/run.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <locale.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* After INTERRUPT_MS of processor time a line is interrupted as by Ctrl-C, again and again; it fails when the last of
   TICKS_MAX interrupts did not end it, or after STUCK_S. */
enum { INTERRUPT_MS = 100, TICKS_MAX = 600, STUCK_S = 900, ROOM = 8192 };

/* What the parent sees of a session, whatever ends it. */
static struct shared {
    long long lines, worked;
    int ticks; /* interrupts of the current line */
    char line[ROOM];
} * now;

static bool told; /* print each line before it runs */

/* ---- lines that do not end ---- */

static void on_tick(int sig)
{
    if (++now->ticks > TICKS_MAX) abort();
    raise(SIGINT);
}

static void watch_line(bool on)
{
    struct itimerval each = {0};
    now->ticks = 0;
    each.it_value.tv_usec = each.it_interval.tv_usec = on ? INTERRUPT_MS * 1000 : 0;
    setitimer(ITIMER_PROF, &each, NULL);
    alarm(on ? STUCK_S : 0);
}

/* ---- the output of a line ---- */

static void wrong(const char *what, const char *text)
{
    fprintf(stderr, "%s: %.300s\n", what, text);
    abort();
}

/* Other control bytes than newlines would let a file's text drive the terminal. */
static void check_bytes(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' && *p != '\n') wrong("the output has a control byte", p);
}

static void check_json(char *text)
{
    for (char *line = text, *end; *line; line = end + 1) {
        if (!(end = strchr(line, '\n'))) wrong("a line of JSON does not end", line);
        *end = 0;
        cJSON *j = cJSON_Parse(line);
        if (!cJSON_IsObject(j) || !cJSON_IsString(cJSON_GetObjectItem(j, "command"))) wrong("no JSON object", line);
        cJSON_Delete(j);
        *end = '\n';
    }
}

/* The first line is a heading: different names of small letters, digits and `_`. */
static void check_csv(const char *text)
{
    size_t n = strcspn(text, "\n");
    char name[64], before[ROOM] = ",";
    for (const char *p = text; *text != '\n' && p < text + n;) {
        size_t k = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (!k || (p[k] != ',' && p[k] != '\n')) wrong("no CSV heading", text);
        snprintf(name, sizeof name, ",%.*s,", (int)k, p);
        if (strstr(before, name)) wrong("a name is twice in the CSV heading", p);
        size_t used = strlen(before);
        snprintf(before + used, sizeof before - used, "%.*s,", (int)k, p);
        p += k + 1;
    }
}

/* ---- a session ---- */

struct output {
    FILE *file;
    char *text;
    size_t n;
};

static void forget(struct output *o)
{
    memset(o->text, 0, o->n);
    rewind(o->file);
}

static void check_output(const struct session *s, struct output *data, struct output *messages)
{
    fflush(data->file);
    fflush(messages->file);
    check_bytes(data->text);
    check_bytes(messages->text);
    if (out_mode(s->out) == OUT_JSON) check_json(data->text);
    if (out_mode(s->out) == OUT_CSV && *data->text) check_csv(data->text + strspn(data->text, "\n"));
    forget(data);
    forget(messages);
}

static void run_session_of(uint64_t seed, long long lines)
{
    static const char *const begins[] = {"", "gen poisson2d 4", "load thesis4.mtx", "gen rmat 5 3; gen dense 4"};
    struct session s;
    struct err e = {0};
    struct output data = {0}, messages = {0};
    uint64_t random = seed;
    data.file = open_memstream(&data.text, &data.n);
    messages.file = open_memstream(&messages.text, &messages.n);
    enum out_mode mode = (enum out_mode)(random_next(&random) % 3);
    if (!data.file || !messages.file || !session_new(&s, data.file, messages.file, mode, &e)) abort();
    s.plain = true;
    if (!ui_attach(&s, &e) || !(s.dev = device_open("cpu", &e))) abort();
    run_line(&s, begins[random_next(&random) % COUNT(begins)]);
    check_output(&s, &data, &messages);
    for (long long i = 0; i < lines; i++, now->lines++) {
        random_line(&random, &s, now->line, sizeof now->line);
        if (told) fprintf(stderr, "%s\n", now->line);
        s.batch = s.quit = false;
        watch_line(true);
        now->worked += run_line(&s, now->line);
        watch_line(false);
        check_output(&s, &data, &messages);
    }
    snprintf(now->line, sizeof now->line, "(the end of the session)");
    ui_detach(&s);
    session_free(&s);
    devices_close();
    fclose(data.file);
    fclose(messages.file);
    free(data.text);
    free(messages.text);
}

/* Views that find no terminal are printed as text. */
static void begin_session(void)
{
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0) abort();
    close(nowhere);
    signal(SIGPROF, on_tick);
    session_catch_interrupt(false);
    omp_set_num_threads(1);
}

/* Returns false if the session failed. */
static bool in_a_process(uint64_t seed, long long lines)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return false;
    if (!child) {
        begin_session();
        run_session_of(seed, lines);
        exit(0);
    }
    waitpid(child, &status, 0);
    if (!status) return true;
    fprintf(stderr, "FAILED: seed %llu, status %d, at the line\n%s\n", (unsigned long long)seed, status, now->line);
    return false;
}

/* ---- the folder ---- */

static char folder[] = "/tmp/warpspy-lines-XXXXXX";

static void copy_here(const char *from)
{
    const char *name = strrchr(from, '/') + 1;
    char path[200], bytes[1 << 16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(from, "rb"), *out = fopen(path, "wb");
    if (!in || !out) abort();
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fwrite(bytes, 1, n, out);
    fclose(in);
    fclose(out);
}

static void enter_folder(void)
{
    static const char *const files[] = {"samples/thesis4.mtx",       "samples/diag6.mtx",      "samples/nos3.mtx.gz",
                                        "tests/files/coo.npz",       "tests/files/level5.mat", "tests/files/complex.rb",
                                        "tests/golden/empty.mtx",    "tests/golden/nan.mtx",   "tests/files/odd.mtx",
                                        "tests/golden/singular.mtx", "tests/files/lesson.txt"};
    if (!mkdtemp(folder)) abort();
    for (int i = 0; i < COUNT(files); i++) copy_here(files[i]);
    if (chdir(folder)) abort();
    FILE *script = fopen("script.txt", "w");
    if (!script) abort();
    fputs("gen poisson2d 3 as S\nstats S\nsolve cg S maxit 2\nlist\n", script);
    fclose(script);
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("HOME", folder, 1);
    setenv("INPUTRC", "/dev/null", 1);
}

static void leave_folder(void)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) perror(command);
}

/* ---- the program ---- */

int main(int argc, char **argv)
{
    long long seconds = 0, lines = 50000, seed = -1, each = 100, sessions = 0, failed = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        long long value = atoll(argv[i + 1]);
        if (!strcmp(argv[i], "seconds")) seconds = value;
        if (!strcmp(argv[i], "lines")) lines = value;
        if (!strcmp(argv[i], "seed")) seed = value;
        if (!strcmp(argv[i], "each")) each = value;
    }
    setlocale(LC_CTYPE, "C.UTF-8");
    now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED) return 1;
    enter_folder();
    told = seed >= 0;
    long long first = told ? seed : (long long)time(NULL) * 1000;
    double begin = now_us(), took = 0;
    while (seconds ? took < (double)seconds : now->lines < lines) {
        failed += !in_a_process((uint64_t)(first + sessions++), each);
        took = (now_us() - begin) / 1e6;
        if (told) break;
    }
    leave_folder();
    printf("%lld sessions from seed %lld, %lld lines in %.0f s, %lld of them without an error, %lld sessions failed\n",
           sessions, first, now->lines, took, now->worked, failed);
    return failed > 0;
}
