/* spawn.c - finding the C++ compiler, and running it as a process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "simulator/compiler/compiler.h"

#define MOST_OUTPUT   ((size_t)256 << 20) /* a preprocessed program */
#define MOST_MESSAGES ((size_t)1 << 20)

extern char **environ;

bool words_add(Words *words, const char *format, ...) {
    char *word = NULL;
    va_list values;
    if (words->n + 2 > words->room) {
        const size_t room = 2 * words->room + 32;
        char **more = realloc(words->words, room * sizeof *more);
        if (more == NULL)
            return false;
        words->words = more;
        words->room = room;
    }
    va_start(values, format);
    const int n = vasprintf(&word, format, values);
    va_end(values);
    if (n < 0)
        return false;
    words->words[words->n++] = word;
    words->words[words->n] = NULL;
    return true;
}

void words_free(Words *words) {
    for (size_t i = 0; i < words->n; i++)
        free(words->words[i]);
    free(words->words);
    memset(words, 0, sizeof *words);
}

/* ---- interruption ---------------------------------------------------------------------------- */

static pthread_once_t waiting_once = PTHREAD_ONCE_INIT;
static pthread_key_t waiting_key; /* the thread's CuWaiting, or &stopped once it was interrupted */
static bool has_waiting_key;
static const CuWaiting stopped;

static void make_waiting_key(void) {
    has_waiting_key = pthread_key_create(&waiting_key, NULL) == 0;
}

static const CuWaiting *waiting_of_thread(void) {
    pthread_once(&waiting_once, make_waiting_key);
    return has_waiting_key ? pthread_getspecific(waiting_key) : NULL;
}

void pygpuSimWaiting(const CuWaiting *waiting) {
    (void)waiting_of_thread();
    if (has_waiting_key)
        (void)pthread_setspecific(waiting_key, waiting);
}

/* Whether the calling thread was interrupted while it waited (pygpuSimWaiting). If so, it starts
 * no further processes. */
static bool spawn_stopped(void) {
    return waiting_of_thread() == &stopped;
}

/* Asks the waiting caller, and remembers a positive answer. */
static bool is_interrupted(void) {
    const CuWaiting *waiting = waiting_of_thread();
    if (waiting == NULL || waiting == &stopped)
        return waiting != NULL;
    if (waiting->interrupted(waiting->data) == 0)
        return false;
    (void)pthread_setspecific(waiting_key, &stopped);
    return true;
}

/* ---- the process
 * ------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Adds text up to a limit and drops the rest: a compiler that writes forever must not use up all
 * memory. */
static void add_within(Text *text, const char *part, size_t n, size_t most) {
    if (text->size > most)
        return;
    const size_t room = most - text->size;
    text_add(text, part, n < room ? n : room);
    if (n > room)
        text_puts(text, "\n... (and more)\n");
}

#define ASKED_EVERY 0.1 /* [s] */

/* Reads both streams at once, so that neither can fill up and block the process. Returns false if
 * they were still open at the end of the time limit, or when this thread was interrupted. */
static bool collect(int out_fd, int error_fd, Text *out, Text *error, double limit) {
    struct pollfd from[2] = {{.fd = out_fd, .events = POLLIN}, {.fd = error_fd, .events = POLLIN}};
    Text *const texts[2] = {out, error};
    char part[65536];
    const double end = now() + limit;
    double ask = now() + ASKED_EVERY;
    for (int open = 2; open > 0;) {
        const double time = now(), left = limit > 0 && end < ask ? end - time : ask - time;
        if (limit > 0 && end <= time)
            return false;
        const int found = poll(from, 2, left > 0 ? (int)(1000 * left) + 1 : 0);
        if (found < 0 && errno != EINTR)
            return true;
        if (now() >= ask || found < 0) {
            if (is_interrupted())
                return false;
            ask = now() + ASKED_EVERY;
        }
        if (found <= 0)
            continue;
        for (int i = 0; i < 2; i++) {
            if (from[i].fd < 0 || from[i].revents == 0)
                continue;
            const ssize_t n = read(from[i].fd, part, sizeof part);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0) {
                from[i].fd = -1; /* poll() ignores it from now on */
                open--;
            } else {
                add_within(texts[i], part, (size_t)n, i == 0 ? MOST_OUTPUT : MOST_MESSAGES);
            }
        }
    }
    return true;
}

/* Starts a process that writes to the two pipes. Returns 0, or an errno value. */
static int start(const Words *words, const char *directory, int out, int error, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(
        &attributes,
        0); /* its own group: g++ runs several processes, which may have to be stopped together */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, error, 2);
    if (directory != NULL)
        posix_spawn_file_actions_addchdir_np(&actions, directory);
    const int failure =
        posix_spawnp(child, words->words[0], &actions, &attributes, words->words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* Waits for a process that has closed its pipes, or stops it. Returns its status; 128 plus the
 * signal if a signal ended it. */
static int finish(pid_t child, bool ended, const char *name, Text *error, double limit) {
    int how;
    if (!ended) {
        kill(-child, SIGKILL);
        if (!spawn_stopped())
            text_printf(error,
                        "%s: did not end within %g s (PYGPU_SIM_COMPILE_TIMEOUT) and was stopped\n",
                        name, limit);
    }
    while (waitpid(child, &how, 0) < 0) {
        if (errno !=
            EINTR) { /* other code reaps all children: the output files tell whether it worked */
            how = 0;
            break;
        }
    }
    if (ended && WIFSIGNALED(how))
        text_printf(error, "%s: was ended by signal %d (%s)\n", name, WTERMSIG(how),
                    strsignal(WTERMSIG(how)));
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

static int spawn_within(const Words *words, const char *directory, Text *out, Text *error,
                        double limit) {
    int out_pipe[2] = {-1, -1}, error_pipe[2] = {-1, -1}, status = -1;
    pid_t child;
    if (spawn_stopped())
        return -1;
    if (pipe2(out_pipe, O_CLOEXEC) != 0 || pipe2(error_pipe, O_CLOEXEC) != 0) {
        text_puts(error, "no pipe for the compiler\n");
        goto close;
    }
    const int failure = start(words, directory, out_pipe[1], error_pipe[1], &child);
    close(out_pipe[1]);
    close(error_pipe[1]);
    out_pipe[1] = error_pipe[1] = -1;
    if (failure != 0) {
        text_printf(error, "%s: %s\n", words->words[0], strerror(failure));
        goto close;
    }
    const bool ended = collect(out_pipe[0], error_pipe[0], out, error, limit);
    status = finish(child, ended, words->words[0], error, limit);
close:
    for (int i = 0; i < 2; i++) {
        if (out_pipe[i] >= 0)
            close(out_pipe[i]);
        if (error_pipe[i] >= 0)
            close(error_pipe[i]);
    }
    return status;
}

int spawn(const Words *words, const char *directory, Text *out, Text *error) {
    return spawn_within(words, directory, out, error, sim_compile_timeout());
}

/* ---- finding a compiler ---------------------------------------------------------------------- */

static pthread_mutex_t find_lock = PTHREAD_MUTEX_INITIALIZER;
static CxxCompiler found;

static bool try_compiler(const char *command) {
    Words words = {0};
    Text out = {0}, error = {0};
    char *copy = strdup(command), *rest = copy, *part;
    while (copy != NULL && (part = strsep(&rest, " ")) != NULL) {
        if (*part != 0)
            words_add(&words, "%s", part);
    }
    free(copy);
    if (words.n == 0)
        return false;
    const size_t n = words.n;
    words_add(&words, "--version");
    const double limit = sim_compile_timeout();
    const bool good =
        spawn_within(&words, NULL, &out, &error, limit > 0 && limit < 60 ? limit : 60) == 0 &&
        out.size > 0;
    if (good) {
        free(words.words[n]);
        words.words[n] = NULL;
        words.n = n;
        found.command = words;
        snprintf(found.version, sizeof found.version, "%.*s", (int)strcspn(out.data, "\n"),
                 out.data);
        found.clang = strstr(out.data, "clang") != NULL;
    } else {
        words_free(&words);
    }
    text_free(&out);
    text_free(&error);
    return good;
}

const CxxCompiler *compiler_find(Text *log) {
    static const char *const others[] = {"g++", "clang++", "python3 -m ziglang c++",
                                         "python -m ziglang c++"};
    pthread_mutex_lock(&find_lock);
    const char *own = getenv("PYGPU_SIM_CXX"), *python = getenv("PYGPU_SIM_PYTHON");
    if (found.command.n == 0) {
        if (own != NULL && *own != 0) {
            if (!try_compiler(own))
                text_printf(log, "PYGPU_SIM_CXX names a C++ compiler that does not run: %s\n", own);
        } else {
            char zig[1100];
            snprintf(zig, sizeof zig, "%s -m ziglang c++", python != NULL ? python : "python3");
            bool good = try_compiler(others[0]) || try_compiler(others[1]) ||
                        (python != NULL && try_compiler(zig)) || try_compiler(others[2]) ||
                        try_compiler(others[3]);
            if (!good) {
                text_puts(log, "pygpu's simulator needs a C++ compiler: tried $PYGPU_SIM_CXX, g++, "
                               "clang++, the ziglang package. "
                               "Install g++, or: pip install ziglang\n");
            }
        }
    }
    const CxxCompiler *result = found.command.n > 0 ? &found : NULL;
    pthread_mutex_unlock(&find_lock);
    return result;
}
