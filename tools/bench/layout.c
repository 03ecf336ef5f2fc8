/* SPDX-License-Identifier: BSD-2-Clause */
#include "layout.h"

#include <stdio.h>

enum { PATH_BYTES = 4096 };

static FILE *create(const char *folder, const char *kernel, const char *class_name,
                    const char *suffix) {
  char path[PATH_BYTES];
  const int n = snprintf(path, sizeof(path), "%s/%s.%s.%s", folder, kernel, class_name, suffix);
  FILE *file = n > 0 && (size_t)n < sizeof(path) ? fopen(path, "wb") : NULL;
  if (file == NULL) {
    die("cannot write", folder);
  }
  return file;
}

static void put(FILE *file, const void *bytes, size_t n) {
  if (n != 0 && fwrite(bytes, 1, n, file) != n) {
    die("cannot write", "the disk is full");
  }
}

static void end(FILE *file) {
  if (fclose(file) != 0) {
    die("cannot write", "the disk is full");
  }
}

static void write_class(const workload *w, const char *class_name, const char *folder) {
  FILE *text = create(folder, w->kernel->id, class_name, "json");
  FILE *data = create(folder, w->kernel->id, class_name, "bin");
  fprintf(text,
          "{\"kernel\": \"%s\", \"class\": \"%s\", \"items\": %zu, \"unique_bytes\": %llu, "
          "\"meta_size\": %u, \"buffers\": [",
          w->kernel->id, class_name, w->n_items, (unsigned long long)w->unique_bytes,
          (unsigned)w->kernel->meta_size);
  put(data, w->meta, w->n_items * w->kernel->meta_size);
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    fprintf(text,
            "%s{\"name\": \"%s\", \"bytes\": %zu, \"origin\": %zu, \"stride\": %lld, "
            "\"output\": %s}",
            b != 0 ? ", " : "", w->kernel->buffers[b].name, w->buffers[b].bytes,
            w->buffers[b].origin, (long long)w->buffers[b].stride,
            w->buffers[b].output ? "true" : "false");
    put(data, w->buffers[b].given, w->buffers[b].bytes);
    if (w->buffers[b].output) {
      put(data, w->buffers[b].expected, w->buffers[b].bytes);
    }
  }
  fprintf(text, "]}\n");
  end(text);
  end(data);
}

void layout_write(const sample_items *samples, size_t n_items, const char *folder) {
  for (size_t c = 0; c < samples->kernel->n_classes; c++) {
    workload work;
    if (work_make(&work, samples, (int)c, n_items)) {
      write_class(&work, samples->kernel->classes[c].name, folder);
      work_free(&work);
    }
  }
}
