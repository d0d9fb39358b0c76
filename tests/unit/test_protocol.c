/* The replies of --serve, from a process of its own: a record stays one line whatever is said while it is written. */
#include "kits/test.h"
#include "language/protocol.h"
#include "report/output.h"
#include "session/session.h"
#include "ui/view.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUES = 100000 }; /* their text is many times longer than what the program buffers */

static void say_both(struct session *s)
{
    out_note(s->out, "a remark");
    out_progress(s->out, "half of it");
}

static double value_and_more(void *user, int64_t i)
{
    if (i == VALUES / 2) say_both(user);
    return (double)i;
}

/* Print a record in the middle of which a remark and progress come, and then again a remark and progress. */
static int print_replies(void)
{
    struct session s;
    struct err e = {0};
    if (!protocol_open(NULL, &e) || !session_new(&s, protocol_data(), protocol_messages(), OUT_JSON, &e)) return 1;
    protocol_begin(&s, &view_registry);
    out_begin(s.out, "layout");
    out_record(s.out);
    bool ok = out_stream(s.out, "values", VALUES, value_and_more, &s, &e) && out_end(s.out, &e);
    fflush(protocol_data());
    say_both(&s);
    session_free(&s);
    protocol_close();
    return !ok;
}

/* Print the progress of work whose total is not known, and of work whose total is 20. */
static int print_progress(void)
{
    struct session s;
    struct err e = {0};
    if (!protocol_open(NULL, &e) || !session_new(&s, protocol_data(), protocol_messages(), OUT_JSON, &e)) return 1;
    protocol_begin(&s, &view_registry);
    for (int total = 0; total <= 20; total += 20) {
        char text[200];
        s.progress = (struct progress){.what = "reading", .done = 5, .total = total};
        session_progress(&s, text, sizeof text);
        out_progress(s.out, text);
    }
    session_free(&s);
    protocol_close();
    return 0;
}

/* What the process wrote to its standard output and its standard error. */
static void run_apart(int (*print)(void), FILE *out, FILE *messages)
{
    int status;
    pid_t child = fork();
    if (!child) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(messages), STDERR_FILENO);
        _exit(print());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rewind(out);
    rewind(messages);
}

TEST(a_record_is_never_torn)
{
    static const char *const keys[] = {"ready", "record", "note", "progress"};
    FILE *out = tmpfile(), *messages = tmpfile();
    char *line = NULL, said[64] = "";
    size_t room = 0;
    int n = 0;
    run_apart(print_replies, out, messages);
    for (; getline(&line, &room, out) > 0; n++) {
        cJSON *reply = cJSON_Parse(line);
        if (!reply) fail_msg("reply %d is not JSON: %.60s", n, line);
        const cJSON *record = cJSON_GetObjectItem(reply, "record");
        if (n < COUNT(keys) && !cJSON_HasObjectItem(reply, keys[n])) fail_msg("reply %d is no %s", n, keys[n]);
        if (record) assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(record, "values")), VALUES);
        cJSON_Delete(reply);
    }
    assert_int_equal(n, COUNT(keys));
    assert_non_null(fgets(said, sizeof said, messages)); /* the remark that came within the record */
    assert_non_null(strstr(said, "a remark"));
    free(line);
    fclose(out);
    fclose(messages);
}

TEST(a_total_that_is_not_known_is_null)
{
    static const char *const wanted[] = {"\"what\":\"reading\",\"done\":5,\"total\":null}",
                                         "\"what\":\"reading\",\"done\":5,\"total\":20}"};
    FILE *out = tmpfile(), *messages = tmpfile();
    char line[1000];
    run_apart(print_progress, out, messages);
    assert_non_null(fgets(line, sizeof line, out)); /* ready */
    for (int i = 0; i < COUNT(wanted); i++) {
        assert_non_null(fgets(line, sizeof line, out));
        if (!strstr(line, wanted[i])) fail_msg("expected %s in %s", wanted[i], line);
    }
    assert_null(fgets(line, sizeof line, out));
    fclose(out);
    fclose(messages);
}
