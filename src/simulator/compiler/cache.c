/* cache.c - images on disk, keyed by a hash of all that they depend on. Files are written
 * atomically (by rename) and checked when read. An unusable cache is not an error. */
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "simulator/compiler/compiler.h"

#define MAGIC 0x31304d4953554750ull /* PGUSIM01 */

/* ---- keys: two different 64-bit hashes, enough against accidental collisions ----------------- */

static uint64_t mix(uint64_t h, uint64_t multiplier) {
    h ^= h >> 32;
    h *= multiplier;
    return h ^ h >> 29;
}

Key key_begin(void) {
    return (Key){{0x243f6a8885a308d3ull, 0x13198a2e03707344ull}};
}

void key_add(Key *key, const void *data, size_t size) {
    const unsigned char *bytes = data;
    key->half[0] = mix(key->half[0] + size, 0x9fb21c651e98df25ull);
    key->half[1] = mix(key->half[1] ^ size, 0xd6e8feb86659fd93ull);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        key->half[0] = mix(key->half[0] ^ word, 0x9fb21c651e98df25ull);
        key->half[1] = mix(key->half[1] + (word ^ 0xa4093822299f31d0ull), 0xd6e8feb86659fd93ull);
    }
}

/* ---- what images depend on ------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char headers[4096], processor[256];
static uint64_t stamp;

static void find_processor(void) {
    char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "r");
    Key key = key_begin();
    snprintf(processor, sizeof processor, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '\n')
            break; /* assume that all cores are like the first */
        char *value = strchr(line, ':');
        if (value == NULL)
            continue;
        if (strncmp(line, "model name", 10) == 0)
            snprintf(processor, sizeof processor, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0 ||
            strncmp(line, "model", 5) == 0 || strncmp(line, "cpu family", 10) == 0 ||
            strncmp(line, "CPU", 3) == 0) {
            key_add(&key, line, strlen(line));
        }
    }
    if (file != NULL)
        fclose(file);
    const size_t used = strlen(processor);
    snprintf(processor + used, sizeof processor - used, " %016llx",
             (unsigned long long)key.half[0]);
}

/* Hashes the files in a folder and its subfolders. Parts are added up, so that their order does
 * not matter. */
static uint64_t folder_stamp(const char *path, unsigned depth) {
    uint64_t sum = 0;
    DIR *folder = opendir(path);
    for (struct dirent *file; folder != NULL && (file = readdir(folder)) != NULL;) {
        char inner[4400];
        struct stat status;
        if (file->d_name[0] == '.' ||
            (size_t)snprintf(inner, sizeof inner, "%s/%s", path, file->d_name) >= sizeof inner ||
            stat(inner, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode) && depth > 0)
            sum += folder_stamp(inner, depth - 1);
        if (!S_ISREG(status.st_mode))
            continue;
        Key one = key_begin();
        key_add(&one, file->d_name, strlen(file->d_name));
        key_add(&one, &status.st_size, sizeof status.st_size);
        key_add(&one, &status.st_mtim, sizeof status.st_mtim);
        sum += one.half[0];
    }
    if (folder != NULL)
        closedir(folder);
    return sum;
}

/* Identifies this build, since another build of the same version may rewrite programs differently.
 * Uses the linker's build ID if there is one. */
static void add_build(Key *key, const Dl_info *info, const char *path) {
    struct stat status;
    const char *base = info->dli_fbase;
    const ElfW(Ehdr) *header = info->dli_fbase;
    const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
        const char *note = base + segment->p_vaddr, *end = note + segment->p_memsz;
        while (segment->p_type == PT_NOTE && segment->p_align <= 4 &&
               (size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *head = (const void *)note;
            const char *content = note + sizeof *head + (head->n_namesz + 3u) / 4 * 4;
            if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 &&
                memcmp(note + sizeof *head, "GNU", 4) == 0) {
                key_add(key, content, head->n_descsz);
                return;
            }
            note = content + (head->n_descsz + 3u) / 4 * 4;
        }
    }
    if (path != NULL && stat(path, &status) == 0) {
        key_add(key, &status.st_size, sizeof status.st_size);
        key_add(key, &status.st_mtim, sizeof status.st_mtim);
    }
}

static void find_all(void) {
    Dl_info info;
    const char *own = getenv("PYGPU_SIM_INCLUDE");
    Key key = key_begin();
    find_processor();
    if (dladdr((void *)(uintptr_t)&find_all, &info) != 0 && info.dli_fname != NULL) {
        char *path = realpath(info.dli_fname, NULL);
        char *slash = path != NULL ? strrchr(path, '/') : NULL;
        if (slash != NULL)
            snprintf(headers, sizeof headers, "%.*s/include", (int)(slash - path), path);
        add_build(&key, &info, path);
        free(path);
    }
    if (own != NULL && *own != 0)
        snprintf(headers, sizeof headers, "%s", own);
    const uint64_t sum = folder_stamp(headers, 4);
    key_add(&key, &sum, sizeof sum);
    key_add(&key, headers, strlen(headers));
    stamp = key.half[0];
}

const char *compiler_headers(void) {
    pthread_once(&once, find_all);
    return headers;
}

uint64_t compiler_stamp(void) {
    pthread_once(&once, find_all);
    return stamp;
}

const char *processor_name(void) {
    pthread_once(&once, find_all);
    return processor;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool cache_folder(char *path, size_t size) {
    const char *own = getenv("PYGPU_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    const char *off = getenv("PYGPU_NO_CACHE");
    int n;
    if (off != NULL && *off != 0 && strcmp(off, "0") != 0)
        return false;
    if (own != NULL && *own != 0)
        n = snprintf(path, size, "%s/simulator", own);
    else if (xdg != NULL && *xdg == '/')
        n = snprintf(path, size, "%s/pygpu/simulator", xdg);
    else if (home != NULL && *home == '/')
        n = snprintf(path, size, "%s/.cache/pygpu/simulator", home);
    else
        return false;
    return n > 0 && (size_t)n < size - 100;
}

static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

/* The rule of pygpu/_src/util/private_files.py: code may only run if nobody but this user or the
 * administrator can have written it. A file that breaks the rule is treated as missing. */
static bool is_private(const struct stat *status) {
    const bool ours = status->st_uid == geteuid() || status->st_uid == 0;
    return ours && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The folder's descriptor; -1 if it is missing or breaks the rule. */
static int open_folder(const char *path) {
    struct stat status;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && (fstat(folder, &status) != 0 || !is_private(&status))) {
        close(folder);
        return -1;
    }
    return folder;
}

typedef struct {
    uint64_t magic, size, key[2], check[2];
} Head;

#define MOST_BYTES ((off_t)1 << 30) /* of an image */

/* Reads a whole file from its descriptor, and closes it. */
static bool read_private(int file, Text *out) {
    struct stat status;
    char part[65536];
    bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_private(&status) &&
                status.st_size <= MOST_BYTES;
    for (off_t left = good ? status.st_size : 0; good && left > 0;) {
        const size_t most = left < (off_t)sizeof part ? (size_t)left : sizeof part;
        const ssize_t n = read(file, part, most);
        if (n < 0 && errno == EINTR)
            continue;
        good = n > 0;
        if (good)
            text_add(out, part, (size_t)n);
        left -= n;
    }
    close(file);
    return good && !out->failed;
}

static bool write_private(int file, const Text *text) {
    size_t done = 0;
    while (done < text->size) {
        const ssize_t n = write(file, text->data + done, text->size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return close(file) == 0 && done == text->size;
}

static void name_entry(char *name, size_t size, Key key) {
    const unsigned long long half[] = {key.half[0], key.half[1]};
    snprintf(name, size, "%016llx%016llx", half[0], half[1]);
}

bool cache_load(Key key, Text *out) {
    char path[4096], name[40];
    Text file = {0};
    Head head;
    const int folder = cache_folder(path, sizeof path) ? open_folder(path) : -1;
    if (folder < 0)
        return false;
    name_entry(name, sizeof name, key);
    /* O_NONBLOCK: a pipe is opened without waiting, then rejected because it is not a file */
    const int entry = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(folder);
    bool good = entry >= 0 && read_private(entry, &file) && file.size >= sizeof head;
    if (good) {
        memcpy(&head, file.data, sizeof head);
        Key check = key_begin();
        key_add(&check, file.data + sizeof head, file.size - sizeof head);
        good = head.magic == MAGIC && head.size == file.size - sizeof head &&
               memcmp(head.key, key.half, sizeof head.key) == 0 &&
               memcmp(head.check, check.half, sizeof head.check) == 0;
        if (good)
            text_add(out, file.data + sizeof head, file.size - sizeof head);
    }
    text_free(&file);
    return good && !out->failed;
}

void cache_store(Key key, const void *data, size_t size) {
    char path[4096], name[40], temporary[100];
    struct timespec now;
    if (!cache_folder(path, sizeof path))
        return;
    make_folders(path);
    const int folder = open_folder(path);
    if (folder < 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    name_entry(name, sizeof name, key);
    snprintf(temporary, sizeof temporary, "%s.%ld.%ld.%p", name, (long)getpid(), now.tv_nsec,
             (void *)&key);
    Key check = key_begin();
    key_add(&check, data, size);
    Head head = {MAGIC, size, {key.half[0], key.half[1]}, {check.half[0], check.half[1]}};
    Text text = {0};
    text_add(&text, (const char *)&head, sizeof head);
    text_add(&text, data, size);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int file = text.failed ? -1 : openat(folder, temporary, flags, 0600);
    if (file >= 0 &&
        (!write_private(file, &text) || renameat(folder, temporary, folder, name) != 0)) {
        unlinkat(folder, temporary, 0);
    }
    text_free(&text);
    close(folder);
}
