/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches of vp9_idct8 on a frame, one after the other, as a decoder has them; the same is done on
 * the CPU and compared.
 *
 *   frames KIND SIDE BATCHES [together | fences]
 *
 * KIND      whose the frame is: "caller" (copied), "created" (of the device, exported and looked at
 *           through that), "imported" (from /dev/dma_heap/system, and where there is none a
 *           memfd, which lavapipe takes for a dma-buf), "shadowed" (the same, with
 *           DAEDALUS_BATCH_SHADOW), "twice" (imported two times: each batch works through the one,
 *           then through the other), "corners" (the caller's, of which only two blocks are used)
 * SIDE      of the frame, a multiple of 8
 * together  all are submitted before the last one is waited for, then the others; the frame is
 *           looked at a second later
 * fences    each is waited for by polling its fence first
 *
 * Prints a line a batch: its number, the error, when its fence was signaled (- without one), the
 * undefined items; then whether the frame is right, and the device lost. Messages go to standard
 * error.
 */
#define _GNU_SOURCE
#include <daedalus.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCHES_MOST = 8 };

typedef struct frame {
  size_t side, n_blocks;
  uint8_t *pixels;       /* what the batches get */
  const uint8_t *others; /* the same through the dma-buf, where there is one */
  uint8_t *on_cpu;       /* what it is to be */
  int16_t *coeffs;
  daedalus_vp9_idct8_meta *meta;
  daedalus_memory *memory, *twin; /* the same again; NULL: not imported twice */
} frame;

static void *must(void *made) {
  if (made == NULL || made == MAP_FAILED) {
    perror("frames");
    exit(2);
  }
  return made;
}

static void check(int error, const char *what) {
  if (error < 0) {
    fprintf(stderr, "frames: %s: %s\n", what, daedalus_strerror(error));
    exit(2);
  }
}

static int heap_frame(size_t size) {
  const int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
  struct dma_heap_allocation_data data = {.len = size, .fd_flags = O_RDWR | O_CLOEXEC};
  if (heap < 0) {
    const int memory = memfd_create("frame", MFD_CLOEXEC);
    check(memory < 0 || ftruncate(memory, (off_t)size) != 0 ? -errno : 0, "a frame");
    return memory;
  }
  if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) != 0) {
    perror("frames: /dev/dma_heap/system");
    exit(2);
  }
  close(heap);
  return (int)data.fd;
}

static void make_frame(frame *f, daedalus_ctx *ctx, const char *kind) {
  const size_t size = f->side * f->side;
  int fd = -1;
  const bool twice = strcmp(kind, "twice") == 0;
  if (strcmp(kind, "imported") == 0 || strcmp(kind, "shadowed") == 0 || twice) {
    fd = heap_frame(size);
    check(daedalus_memory_import_dmabuf(ctx, fd, size, NULL, &f->memory), "importing");
    if (twice) {
      check(daedalus_memory_import_dmabuf(ctx, fd, size, NULL, &f->twin), "importing again");
    }
  } else if (strcmp(kind, "created") == 0) {
    check(daedalus_memory_create(ctx, size, &f->memory), "creating memory");
    check(daedalus_memory_export_dmabuf(f->memory, &fd), "exporting");
  }
  f->pixels = f->memory != NULL ? daedalus_memory_data(f->memory) : must(malloc(size));
  if (fd >= 0) {
    /* To be read only: v3dv exports descriptors that cannot be written through. */
    f->others = must(mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0));
    close(fd);
  }
}

static void fill_frame(frame *f, bool corners) {
  uint32_t state = 1;
  f->on_cpu = must(malloc(f->side * f->side));
  for (size_t i = 0; i < f->side * f->side; i++) {
    state = state * 1664525 + 1013904223;
    f->on_cpu[i] = (uint8_t)(state >> 24);
  }
  memcpy(f->pixels, f->on_cpu, f->side * f->side);
  if (f->memory != NULL) {
    check(daedalus_memory_flush(f->memory, 0, f->side * f->side), "flushing");
  }
  const size_t across = f->side / 8;
  f->n_blocks = corners ? 2 : across * across;
  f->coeffs = must(malloc(f->n_blocks * 64 * sizeof(int16_t)));
  f->meta = must(calloc(f->n_blocks, sizeof(*f->meta)));
  for (size_t i = 0; i < f->n_blocks; i++) {
    const size_t at = corners ? i * (across * across - 1) : i;
    f->meta[i] = (daedalus_vp9_idct8_meta){
        .dst_off = (uint32_t)(at / across * 8 * f->side + at % across * 8), .eob = 64};
    for (size_t k = 0; k < 64; k++) {
      state = state * 1664525 + 1013904223;
      f->coeffs[i * 64 + k] = (int16_t)((state >> 24) % 64 * 4 - 126);
    }
  }
}

static void submit(daedalus_ctx *ctx, const frame *f, const char *kind, daedalus_batch **batch) {
  check(daedalus_batch_begin(ctx, batch), "beginning");
  if (strcmp(kind, "shadowed") == 0) {
    check(daedalus_batch_set_flags(*batch, DAEDALUS_BATCH_SHADOW), "flags");
  }
  uint8_t *const places[] = {f->pixels, f->twin != NULL ? daedalus_memory_data(f->twin) : NULL};
  for (int i = 0; i < 2 && places[i] != NULL; i++) {
    check(daedalus_append_vp9_idct8(*batch, DAEDALUS_SUBSTRATE_QPU, places[i], f->side, f->coeffs,
                                    f->n_blocks, f->meta),
          "appending");
    check(daedalus_dispatch_vp9_idct8(ctx, DAEDALUS_SUBSTRATE_CPU, f->on_cpu, f->side, f->coeffs,
                                      f->n_blocks, f->meta),
          "the CPU");
  }
  (void)daedalus_batch_submit(*batch); /* wait gives its error again */
}

static void finish(daedalus_batch *batch, int number, bool fences) {
  const char *fence = "-";
  int fd;
  if (fences && daedalus_batch_export_fence(batch, &fd) == 0) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    const bool late = poll(&one, 1, 0) == 0;
    fence = poll(&one, 1, 20000) != 1 ? "never" : late ? "later" : "at-once";
    close(fd);
  }
  const int error = daedalus_batch_wait(batch, -1);
  printf("batch %d: %d %s %zu\n", number, error, fence, daedalus_batch_undefined_count(batch));
}

int main(int argc, char **argv) {
  if (argc < 4) {
    return 2;
  }
  const char *kind = argv[1];
  const int n = atoi(argv[3]);
  const bool together = argc > 4 && strcmp(argv[4], "together") == 0;
  const bool fences = argc > 4 && strcmp(argv[4], "fences") == 0;
  frame f = {.side = (size_t)atoi(argv[2])};
  if (n < 1 || n > BATCHES_MOST || f.side < 8 || f.side % 8 != 0) {
    return 2;
  }
  daedalus_ctx *ctx = must(daedalus_ctx_create());
  make_frame(&f, ctx, kind);
  fill_frame(&f, strcmp(kind, "corners") == 0);
  daedalus_batch *batches[BATCHES_MOST];
  for (int i = 0; i < n; i++) {
    submit(ctx, &f, kind, &batches[i]);
    if (!together) {
      finish(batches[i], i, fences);
    }
  }
  for (int i = n - 1; together && i >= 0; i--) {
    finish(batches[i], i, false);
  }
  if (f.memory != NULL) {
    check(daedalus_memory_invalidate(f.memory, 0, f.side * f.side), "invalidating");
  }
  if (together) {
    usleep(1000000); /* for what may still run behind the runtime's back */
  }
  const uint8_t *seen = f.others != NULL ? f.others : f.pixels;
  daedalus_device_info info = {.size = sizeof(info)};
  check(daedalus_ctx_device(ctx, &info), "the device");
  printf("frame %s, device %s\n", memcmp(seen, f.on_cpu, f.side * f.side) == 0 ? "right" : "wrong",
         info.lost ? "lost" : "there");
  daedalus_ctx_destroy(ctx);
  return 0;
}
