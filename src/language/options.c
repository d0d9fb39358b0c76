/* The options that `set` saves in a file of lines such as "colours 256", which can also be edited by hand. */
#include "options.h"
#include "base/folder_lock.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/xdg.h"
#include "kinds.h"
#include "machine/device.h"
#include "machine/member_rows.h"
#include "machine/peer_library.h"
#include "machine/toolkit.h"
#include "machine/transfer.h"
#include "microscope/gpu_profile.h"
#include "prompt_template.h"
#include "session/alias.h"
#include "session/front.h"
#include "session/product.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 65536 };

/* ---- the options ---- */

static void list_devices(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    give(user, "auto");
    kind_list(kind_find("DEVICE", strlen("DEVICE")), s, a, give, user);
}

/* Accept any GPU number, because listing the GPUs takes a long time. A wrong number is reported when the GPU is
   opened. */
static bool check_device(const char *value)
{
    bool several = strpbrk(value, "+*") && device_is_name(value);
    return several || !strcmp(value, "auto") || !strcmp(value, "cpu") || !strcmp(value, "emu") ||
           !strncmp(value, "cuda:", 5);
}

/* Do not open the default device before it is needed. */
static bool use_device(struct session *s, const char *value, struct err *e)
{
    const struct device *default_device = device_default();
    s->dev = NULL;
    if (!strcmp(value, "auto") || (default_device && !strcmp(value, default_device->name))) return true;
    return (s->dev = device_open(value, e)) != NULL;
}

static bool use_precision(struct session *s, const char *value, struct err *e)
{
    SCREEN_EDIT;
    s->single = !strcmp(value, "f32");
    return true;
}

static bool is_own_pager(const char *value)
{
    return !strcmp(value, "on") || !strcmp(value, "off") || !strcmp(value, "env");
}

static bool is_executable(const char *folder, int n, const char *program, int length)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s%s%.*s", n, folder, n ? "/" : "", length, program);
    return !access(path, X_OK);
}

/* Does the shell command begin with a program that exists, or with a variable? */
static bool is_shell_command(const char *value)
{
    int length = (int)strcspn(value, " ");
    if (memchr(value, '=', (size_t)length)) return true;
    if (memchr(value, '/', (size_t)length)) return is_executable("", 0, value, length);
    for (const char *path = getenv("PATH"); path && *path && length;) {
        int n = (int)strcspn(path, ":");
        if (n && is_executable(path, n, value, length)) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

static bool has_control_bytes(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value < ' ') return true;
    return false;
}

static bool check_pager(const char *value)
{
    if (has_control_bytes(value)) return false;
    return is_own_pager(value) || is_shell_command(value);
}

static bool use_pager(struct session *s, const char *value, struct err *e)
{
    return is_own_pager(value) || shell_is_allowed(s, e);
}

static bool use_page_locked(struct session *s, const char *value, struct err *e)
{
    transfer_page_locked(!strcmp(value, "on"));
    return true;
}

static bool use_exchange(struct session *s, const char *value, struct err *e)
{
    for (int x = 0; x < TRANSPORTS; x++)
        if (!strcmp(value, transport_name(x))) transport_choose(x);
    return true;
}

static bool use_parts(struct session *s, const char *value, struct err *e)
{
    split_by(value);
    return true;
}

/* A launcher is a command: a script may not choose which. */
static bool use_launcher(struct session *s, const char *value, struct err *e)
{
    return !strcmp(value, options[OPTION_LAUNCHER].default_value) || shell_is_allowed(s, e);
}

static bool check_launcher(const char *value)
{
    return *value && *value != ' ' && !has_control_bytes(value);
}

static bool check_cusparse(const char *value)
{
    return !strcmp(value, options[OPTION_CUSPARSE].default_value) ||
           (!has_control_bytes(value) && !access(value, R_OK));
}

/* A library is code: a script may not choose which. What the library before has prepared is freed. */
static bool use_cusparse(struct session *s, const char *value, struct err *e)
{
    bool newest = !strcmp(value, options[OPTION_CUSPARSE].default_value);
    if (!newest && !shell_is_allowed(s, e)) return false;
    device_copies_drop(s, NULL);
    cusparse_choose(newest ? NULL : value);
    return true;
}

static bool check_nvcc(const char *value)
{
    char path[PATH_MAX];
    return !strcmp(value, options[OPTION_NVCC].default_value) || !strcmp(value, "off") ||
           (!has_control_bytes(value) && toolkit_find(value, path, sizeof path));
}

/* A compiler is a program: a script may not choose which. */
static bool use_nvcc(struct session *s, const char *value, struct err *e)
{
    bool automatic = !strcmp(value, options[OPTION_NVCC].default_value);
    if (!automatic && strcmp(value, "off") && !shell_is_allowed(s, e)) return false;
    toolkit_choose(automatic ? NULL : value);
    return true;
}

static bool restyle(struct session *s, const char *value, struct err *e)
{
    if (s->front && s->front->restyle) s->front->restyle(s);
    return true;
}

static bool check_prompt(const char *value)
{
    return *value && !has_control_bytes(value);
}

static bool use_prompt(struct session *s, const char *value, struct err *e)
{
    return prompt_template_check(value, e);
}

static void list_gpus(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    give(user, "auto");
    profile_list(give, user);
}

static bool is_not_empty(const char *value)
{
    return *value != 0;
}

static bool use_gpu(struct session *s, const char *value, struct err *e)
{
    bool profile = strcmp(value, "auto") != 0;
    struct machine *g = profile ? mem_new(1, sizeof *g, "the profile of a GPU", e) : NULL;
    if (profile && (!g || !profile_load(value, g, e))) return mem_free(g), false;
    mem_free(s->gpu);
    s->gpu = g;
    return true;
}

const struct setting options[] = {
    [OPTION_DEVICE] = {"device",
                       "where commands run; auto: the first GPU, or cpu if there is no GPU",
                       "auto",
                       {NULL},
                       list_devices,
                       check_device,
                       use_device},
    [OPTION_PRECISION] = {"precision", "default precision of values", "f64", {"f64", "f32"}, NULL, NULL, use_precision},
    [OPTION_COLOURS] = {"colours",
                        "colours on a terminal; auto: from NO_COLOR, COLORTERM and TERM",
                        "auto",
                        {"auto", "none", "8", "16", "256", "true"},
                        NULL,
                        NULL,
                        restyle,
                        "color colors colour"},
    [OPTION_THEME] = {"theme",
                      "colours for this background; auto: as the terminal answers, otherwise from COLORFGBG",
                      "auto",
                      {"auto", "dark", "light"},
                      NULL,
                      NULL,
                      restyle,
                      "background"},
    [OPTION_ASCII] = {"ascii",
                      "draw without braille and box characters; auto: from locale and TERM",
                      "auto",
                      {"auto", "on", "off"},
                      NULL,
                      NULL,
                      restyle},
    [OPTION_MOUSE] =
        {"mouse", "use clicks and the wheel in full-screen views", "on", {"on", "off"}, NULL, NULL, restyle},
    [OPTION_PIXELS] =
        {"pixels",
         "pictures of pixels in full-screen views; auto: if the terminal answers that it has sixels or kitty "
         "graphics",
         "auto",
         {"auto", "off", "sixel", "kitty"},
         NULL,
         NULL,
         restyle},
    [OPTION_PAGER] =
        {"pager",
         "show long output page by page; env: with $WARPSPY_PAGER or $PAGER; COMMAND: with a pager such as \"less -S\"",
         "on",
         {"on", "off", "env"},
         NULL,
         check_pager,
         use_pager},
    [OPTION_PROMPT] = {"prompt",
                       "the prompt: text with {matrix}, {device} and {time}, the time of the last command, such as "
                       "\"{matrix} {time}>\"",
                       "default",
                       {"default"},
                       NULL,
                       check_prompt,
                       use_prompt},
    [OPTION_TITLE] = {"title", "name the matrix in the title of the window", "on", {"on", "off"}, NULL, NULL, restyle},
    [OPTION_LINKS] = {"links",
                      "names of written files as links (OSC 8); auto: on terminals known to show them",
                      "auto",
                      {"auto", "on", "off"},
                      NULL,
                      NULL,
                      restyle},
    [OPTION_CLIPBOARD] = {"clipboard",
                          "copying by the terminal (OSC 52); auto: if terminfo or the terminal says that it can",
                          "auto",
                          {"auto", "on", "off"},
                          NULL,
                          NULL,
                          restyle},
    [OPTION_NOTIFY] = {"notify",
                       "tell when work of more than 10 s ends while the window is away: by OSC 9 or OSC 777 and the "
                       "bell, or the bell alone",
                       "auto",
                       {"auto", "osc9", "osc777", "bell", "off"},
                       NULL,
                       NULL,
                       restyle},
    [OPTION_PINNED] = {"pinned",
                       "copy large arrays to and from a GPU through page-locked buffers",
                       "on",
                       {"on", "off"},
                       NULL,
                       NULL,
                       use_page_locked,
                       "page-locked"},
    [OPTION_GPU] = {"gpu",
                    "the GPU that predictions are for: a profile or a file; auto: the GPU in use, or an H200",
                    "auto",
                    {NULL},
                    list_gpus,
                    is_not_empty,
                    use_gpu,
                    "predict-for"},
    [OPTION_EXCHANGE] = {"exchange",
                         "how the members of a device such as cuda:0+1 send to each other: peer (launches store into "
                         "each other's memory), copy (copies between devices), nccl (sends and receives of NCCL), host "
                         "(through the host); auto: the first that is possible without NCCL",
                         "auto",
                         {"auto", "peer", "copy", "nccl", "host"},
                         NULL,
                         NULL,
                         use_exchange},
    [OPTION_PARTS] = {"parts",
                      "how rows are divided among the members of a device, from the next copy of a matrix on: parts of "
                      "equal bytes per product, equal nonzeros, or equal rows",
                      "bytes",
                      {"bytes", "nnz", "rows"},
                      NULL,
                      NULL,
                      use_parts},
    [OPTION_LAUNCHER] = {"launcher",
                         "what starts `ranks`: a command to which -n, a number and warpspy-ranks are added",
                         "mpiexec",
                         {"mpiexec", "srun"},
                         NULL,
                         check_launcher,
                         use_launcher},
    [OPTION_CUSPARSE] = {"cusparse",
                         "the cuSPARSE whose kernels are compared: a file libcusparse.so.12 or its folder; auto: the "
                         "newest among the loader's path, CUDA_HOME, /usr/local/cuda and the Python environment",
                         "auto",
                         {"auto"},
                         NULL,
                         check_cusparse,
                         use_cusparse},
    [OPTION_NVCC] =
        {"nvcc",
         "the nvcc that compiles your kernels for `try`: a program, or a folder below which it is, such as "
         "that of a Python package; off: none; auto: that of WARPSPY_NVCC, PATH, CUDA_HOME, /usr/local/cuda",
         "auto",
         {"auto", "off"},
         NULL,
         check_nvcc,
         use_nvcc},
    [OPTIONS] = {0},
};

const struct registry option_registry = {options, sizeof *options, offsetof(struct setting, aliases)};

const struct setting *option_find(const char *name)
{
    return registry_find(&option_registry, name);
}

void option_list(const struct session *s, const struct setting *o, give_fn *give, void *user)
{
    for (int i = 0; o->values[i]; i++) give(user, o->values[i]);
    if (o->list) o->list(s, NULL, give, user);
}

const char *option_value(const struct session *s, enum option_id o)
{
    return *s->option[o] ? s->option[o] : options[o].default_value;
}

/* ---- setting ---- */

static bool refuse(const struct session *s, const struct setting *o, const char *value, struct err *e)
{
    struct suggest near = suggest_for(value);
    struct message t = {0}, choices = {0};
    if (*value)
        message_quote(&t, value);
    else
        message_add(&t, "a value");
    message_add(&t, *value ? " is not a value of %s" : " of %s is missing", o->name);
    option_list(s, o, suggest_offer, &near);
    message_near(&t, &near);
    option_list(s, o, message_list, &choices);
    message_add(&t, "; one of %s", choices.text);
    return fail(e, E_USAGE, "%s", t.text);
}

struct search {
    const char *value;
    bool found;
};

static void seek(void *user, const char *word)
{
    struct search *t = user;
    t->found |= !strcmp(word, t->value);
}

static void keep(char *kept, const char *value)
{
    SCREEN_EDIT;
    strcpy(kept, value);
}

bool option_set(struct session *s, const struct setting *o, const char *value, struct err *e)
{
    struct search t = {value, false};
    char *kept = s->option[o - options], before[sizeof s->option[0]];
    if (o->check)
        t.found = o->check(value);
    else
        option_list(s, o, seek, &t);
    if (!t.found || strlen(value) >= sizeof before) return refuse(s, o, value, e);
    memcpy(before, kept, sizeof before);
    keep(kept, value);
    if (o->apply(s, value, e)) return true;
    keep(kept, before);
    return false;
}

/* ---- the file ---- */

static bool place(char *out, size_t size)
{
    return xdg_path("XDG_CONFIG_HOME", ".config", "warpspy/config", out, size);
}

const char *options_place(char *out, size_t size)
{
    char path[PATH_MAX];
    return print_safe(path, place(path, sizeof path) ? strlen(path) : 0, 200, out, size);
}

/* Read the whole file into text[FILE_MAX + 1]; the text is empty if the file does not exist. */
static bool read_all(const char *path, char *text, struct err *e)
{
    char where[256];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    text[0] = 0;
    print_safe(path, strlen(path), 200, where, sizeof where);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || fail_at(e, E_IO, where, "cannot read: %s", strerror(errno));
    bool regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
    ssize_t n = regular ? read(fd, text, FILE_MAX + 1) : 0;
    int why = errno;
    close(fd);
    if (!regular) return fail_at(e, E_IO, where, "this is not a regular file");
    if (n < 0) return fail_at(e, E_IO, where, "cannot read: %s", strerror(why));
    if (n > FILE_MAX) return fail_at(e, E_IO, where, "the file is too large: at most %d bytes", FILE_MAX);
    text[n] = 0;
    return !memchr(text, 0, (size_t)n) || fail_at(e, E_INPUT, where, "the file is not text: it contains a NUL byte");
}

/* Split "name value" or "name = value"; returns false if the line sets nothing. */
static bool split(char *line, char **name, char **value)
{
    static const char blanks[] = " \t\r=";
    *name = line + strspn(line, " \t\r");
    if (!**name || **name == '#') return false;
    char *end = *name + strcspn(*name, blanks);
    *value = end + strspn(end, blanks);
    *end = 0;
    for (end = *value + strlen(*value); end > *value && strchr(" \t\r", end[-1]); end--) end[-1] = 0;
    return true;
}

/* "NAME = LINE" */
static bool use_alias(struct session *s, char *definition, struct err *e)
{
    char *name, *line;
    if (!split(definition, &name, &line) || !*line) return fail(e, E_USAGE, "write `alias NAME = LINE`");
    return kind_check("NAME", s, "alias", name, e) && alias_set(s, name, line, e);
}

static bool use_line(struct session *s, char *line, struct err *e)
{
    char *name, *value;
    if (!split(line, &name, &value)) return true;
    const struct setting *o = option_find(name);
    if (o) return option_set(s, o, value, e);
    if (!strcmp(name, "alias")) return use_alias(s, value, e);
    struct message t = {0};
    struct suggest near = suggest_for(name);
    registry_list(&option_registry, suggest_offer, &near);
    message_add(&t, "there is no option ");
    message_quote(&t, name);
    message_near(&t, &near);
    return fail(e, E_USAGE, "%s", t.text);
}

void options_load(struct session *s, char *warned, size_t size)
{
    char path[PATH_MAX], text[FILE_MAX + 2], where[256];
    struct err first = {0};
    int wrong = 0, number = 0, at = 0;
    warned[0] = 0;
    if (!place(path, sizeof path)) return;
    if (!read_all(path, text, &first)) {
        snprintf(warned, size, "%s: %s; using the default options", first.where, first.text);
        return;
    }
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        struct err e = {0};
        number++;
        if (use_line(s, line, &e)) continue;
        if (!wrong++) first = e, at = number;
    }
    if (!wrong) return;
    char more[48] = "";
    if (wrong > 1) snprintf(more, sizeof more, "; %d more line%s wrong", wrong - 1, wrong == 2 ? " is" : "s are");
    snprintf(warned, size, "%s:%d: %s%s", options_place(where, sizeof where), at, first.text, more);
}

/* Does the line begin with the words of the key, such as "colours" or "alias p"? */
static bool is_line_of(const char *line, size_t n, const char *key)
{
    const char *end = line + n;
    for (const char *part = key;; part++) {
        size_t k = strcspn(part, " ");
        while (line < end && strchr(" \t\r", *line)) line++;
        if ((size_t)(end - line) < k || strncmp(line, part, k)) return false;
        line += k;
        if (line < end && !strchr(" \t\r=", *line)) return false;
        part += k;
        if (!*part) return true;
    }
}

static bool write_line(struct newfile *f, const char *key, const char *value, struct err *e)
{
    return newfile_write(f, key, (int64_t)strlen(key), e) && newfile_write(f, " ", 1, e) &&
           newfile_write(f, value, (int64_t)strlen(value), e) && newfile_write(f, "\n", 1, e);
}

/* Copy all lines except the lines of this key. The new line, if `value` is not NULL, replaces the first of the old
   lines, or is appended. */
static bool write_lines(struct newfile *f, const char *text, const char *key, const char *value, struct err *e)
{
    bool written = !value, ok = true;
    for (size_t k; ok && *text; text += k) {
        k = strcspn(text, "\n");
        bool its = is_line_of(text, k, key), ends = text[k] == '\n';
        k += ends;
        if (!its)
            ok = newfile_write(f, text, (int64_t)k, e) && (ends || newfile_write(f, "\n", 1, e));
        else if (!written)
            ok = written = write_line(f, key, value, e);
    }
    return ok && (written || write_line(f, key, value, e));
}

bool options_keep_line(const char *key, const char *value, struct err *e)
{
    char path[PATH_MAX], text[FILE_MAX + 2], where[256];
    if (!place(path, sizeof path)) return fail(e, E_IO, "neither XDG_CONFIG_HOME nor HOME is set");
    if (!xdg_make_folders(path))
        return fail_at(e, E_IO, options_place(where, sizeof where), "cannot create the folder of this file: %s",
                       strerror(errno));
    struct newfile f;
    int lock;
    if (!folder_lock(path, &lock, e)) return false;
    bool ok = read_all(path, text, e) && newfile_open_own(&f, path, true, e);
    if (ok) ok = newfile_close(&f, write_lines(&f, text, key, value, e), e);
    folder_unlock(lock);
    return ok;
}

bool options_keep(const struct setting *o, const char *value, struct err *e)
{
    return options_keep_line(o->name, value, e);
}

/* ---- options that end with a lesson ---- */

void options_remember(const struct session *s, struct kept_options *k)
{
    memcpy(k->option, s->option, sizeof k->option);
    k->dev = s->dev;
}

/* Apply the values as the user's, because a script may not choose all of them. The device is not opened again, and may
   not be that of the option: the command `device` chooses another. */
void options_restore(struct session *s, const struct kept_options *k)
{
    struct lines outer = lines_of_user(s);
    for (int i = 0; i < OPTIONS; i++) {
        struct err e = {0};
        if (!strcmp(s->option[i], k->option[i])) continue;
        keep(s->option[i], k->option[i]);
        if (i == OPTION_DEVICE)
            s->dev = k->dev;
        else if (!options[i].apply(s, option_value(s, i), &e))
            out_note(s->out, "%s cannot be set to %s again: %s", options[i].name, option_value(s, i), e.text);
    }
    lines_end(s, &outer);
}
