/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues.  A job waits for fences; among those that wait for nothing any more, a queue runs the
 * one that was submitted first.  Jobs of one client and queue stay in order, as each waits for the
 * one before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fault_jobs.h"
#include "perfmon.h"
#include "timed.h"

void dev_job_push(struct dev_client *client, struct dev_job *job) {
  struct dev_queue *queue = &job->device->queues[job->queue];
  job->serial = ++job->device->n_jobs;
  dev_fault_job(job);
  dev_fence_replace(&client->last[job->queue], job->done);
  for (size_t i = 0; i < job->n_bos; i++)
    dev_fence_replace(&job->bos[i]->last, job->done);
  *queue->last = job;
  queue->last = &job->next;
}

static bool is_ready(struct dev_job *job) {
  while (job->n_waits > 0 && job->waits[job->n_waits - 1]->signaled)
    dev_fence_unref(job->waits[--job->n_waits]);
  for (size_t i = 0; i < job->n_waits; i++)
    if (!job->waits[i]->signaled)
      return false;
  return true;
}

/* Takes the first job that can run out of the queue; NULL: there is none. */
static struct dev_job *take_ready(struct dev_queue *queue) {
  for (struct dev_job **slot = &queue->first; *slot != NULL; slot = &(*slot)->next) {
    struct dev_job *job = *slot;
    if (!is_ready(job))
      continue;
    *slot = job->next;
    if (queue->last == &job->next)
      queue->last = slot;
    job->next = NULL;
    return job;
  }
  return NULL;
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const struct dev_kind *kind_of(const struct dev_job *job) {
  return job->device->queues[job->queue].kind;
}

static void run(struct dev_job *job) {
  if (job->skip)
    return;
  if (job->flip != NULL)
    dev_fault_keep(job);
  const uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  job->result = kind_of(job)->run(job);
  job->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  job->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
  if (job->flip != NULL)
    dev_fault_flip(job);
}

static void print_fault(FILE *file, const struct dev_fault *fault, bool *first) {
  if (fault == NULL)
    return;
  fprintf(file, "%s\"%s\"", *first ? ", \"faults\": [" : ", ", fault->text);
  *first = false;
}

static void print_job(FILE *file, const struct dev_job *job) {
  bool none = true;
  fprintf(file,
          "{\"job\": %llu, \"queue\": \"%s\", \"result\": %d, \"instructions\": %llu, "
          "\"batches\": %llu, \"wall_us\": %.1f, \"cpu_us\": %.1f, \"submission\": %llu",
          (unsigned long long)job->serial, kind_of(job)->name, job->result,
          (unsigned long long)job->counts.instructions, (unsigned long long)job->counts.batches,
          (double)job->wall_ns / 1000, (double)job->cpu_ns / 1000,
          (unsigned long long)job->submission);
  print_fault(file, job->lost, &none);
  print_fault(file, job->hung ? job->hang : NULL, &none);
  print_fault(file, job->slowed ? job->slow : NULL, &none);
  print_fault(file, job->n_flipped > 0 ? job->flip : NULL, &none);
  if (!none)
    fputc(']', file);
  dev_timed_print(job, file);
  fprintf(file, "}\n");
}

/* As after a reset on the hardware, a failed job's fence signals. */
static void finish(struct dev_job *job) {
  struct dev_device *device = job->device;
  if (job->lost != NULL) {
    job->result = -ENODEV;
  } else if (job->result != 0) {
    device->n_failed += !job->hung;
    dev_report(device, "%s job %llu failed: %s", kind_of(job)->name,
               (unsigned long long)job->serial, job->message);
  }
  struct dev_client *client = job->refused ? dev_client_of(device, job->client) : NULL;
  if (client != NULL)
    client->unserved = true;
  if (job->n_flipped > 0)
    job->flip->n_struck++;
  dev_timed_end(job);
  dev_perfmon_add(job);
  if (device->jobs != NULL)
    print_job(device->jobs, job);
  if (device->stretches)
    job->done->clock_ns = dev_clock_ns(device);
  dev_fence_signal(job->done);
  dev_job_destroy(job);
}

/* The job ends at until, unless the device is lost before. */
static void hold(struct dev_queue *queue, struct dev_job *job, uint64_t until) {
  queue->held = job;
  queue->held_until_ns = until;
}

/* How long its run was by the clock of waits, which goes again by the host's while it is held. */
static uint64_t waited_ns(const struct dev_job *job) {
  return job->device->stretches && job->modelled != NULL ? dev_timed_ns(job) : job->wall_ns;
}

/* The job has run. */
static void end(struct dev_queue *queue, struct dev_job *job) {
  if (job->lost != NULL)
    finish(job);
  else if (job->hang != NULL && !job->skip && job->result == 0)
    hold(queue, job, dev_fault_hang(job, dev_now_ns()));
  else if (job->slow != NULL)
    hold(queue, job, dev_fault_slow(job, dev_now_ns(), waited_ns(job)));
  else
    finish(job);
}

static void *work(void *argument) {
  struct dev_worker *worker = argument;
  pthread_mutex_lock(&worker->lock);
  for (;;) {
    while (worker->job == NULL && !worker->stop)
      pthread_cond_wait(&worker->wake, &worker->lock);
    struct dev_job *job = worker->job;
    if (job == NULL)
      break;
    worker->job = NULL;
    pthread_mutex_unlock(&worker->lock);
    run(job);
    pthread_mutex_lock(&worker->lock);
    worker->finished = job;
    const uint64_t one = 1;
    if (write(worker->device->done_event, &one, sizeof one) != sizeof one)
      abort(); /* an eventfd that takes no 1 is not one */
  }
  pthread_mutex_unlock(&worker->lock);
  return NULL;
}

int dev_queues_start(struct dev_device *device, const struct dev_kind *kinds) {
  device->done_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (device->done_event < 0)
    return -errno;
  for (size_t i = 0; i < DEV_N_QUEUES; i++) {
    struct dev_queue *queue = &device->queues[i];
    struct dev_worker *worker = &queue->worker;
    queue->kind = &kinds[i];
    queue->last = &queue->first;
    worker->device = device;
    if (!queue->kind->has_worker)
      continue;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->wake, NULL);
    const int error = pthread_create(&worker->thread, NULL, work, worker);
    if (error != 0)
      return -error;
    worker->started = true;
  }
  return 0;
}

void dev_queues_stop(struct dev_device *device) {
  if (device->executor.stop != NULL)
    device->executor.stop(device->executor.self);
  for (size_t i = 0; i < DEV_N_QUEUES; i++) {
    struct dev_queue *queue = &device->queues[i];
    struct dev_worker *worker = &queue->worker;
    if (worker->started) {
      pthread_mutex_lock(&worker->lock);
      worker->stop = true;
      pthread_cond_signal(&worker->wake);
      pthread_mutex_unlock(&worker->lock);
      pthread_join(worker->thread, NULL);
      pthread_cond_destroy(&worker->wake);
      pthread_mutex_destroy(&worker->lock);
      if (queue->running != NULL)
        finish(queue->running);
    }
    if (queue->held != NULL)
      finish(queue->held);
    while (queue->first != NULL) {
      struct dev_job *job = queue->first;
      queue->first = job->next;
      dev_job_destroy(job);
    }
  }
  if (device->done_event >= 0)
    close(device->done_event);
}

/* Takes back the job that ran, if it is done. */
static struct dev_job *take_back(struct dev_device *device, struct dev_queue *queue) {
  struct dev_worker *worker = &queue->worker;
  pthread_mutex_lock(&worker->lock);
  struct dev_job *finished = worker->finished;
  worker->finished = NULL;
  pthread_mutex_unlock(&worker->lock);
  if (finished == NULL)
    return NULL;
  queue->running = NULL;
  if (queue->stopped)
    device->executor.resume(device->executor.self);
  queue->stopped = false;
  return finished;
}

static void hand_over(struct dev_queue *queue, struct dev_job *job) {
  struct dev_worker *worker = &queue->worker;
  queue->running = job;
  pthread_mutex_lock(&worker->lock);
  worker->job = job;
  pthread_cond_signal(&worker->wake);
  pthread_mutex_unlock(&worker->lock);
}

/* Whether the queue went on. */
static bool step(struct dev_device *device, struct dev_queue *queue) {
  if (queue->held != NULL) {
    if (queue->held_until_ns > dev_now_ns())
      return false;
    struct dev_job *held = queue->held;
    queue->held = NULL;
    finish(held);
    return true;
  }
  if (queue->running != NULL) {
    struct dev_job *finished = take_back(device, queue);
    if (finished == NULL)
      return false;
    if (finished->queue == DEV_QUEUE_CSD)
      dev_waits_go(device, dev_timed_ns(finished));
    end(queue, finished);
    return true;
  }
  struct dev_job *job = take_ready(queue);
  if (job == NULL)
    return false;
  if (job->lost != NULL || job->refused) {
    finish(job);
  } else if (dev_fault_hangs_at_once(job)) {
    hold(queue, job, dev_fault_hang(job, dev_now_ns()));
  } else if (kind_of(job)->runs_in_loop(job)) {
    run(job);
    end(queue, job);
  } else {
    if (job->queue == DEV_QUEUE_CSD)
      dev_clock_stop(device);
    hand_over(queue, job);
    return false;
  }
  return true;
}

void dev_queues_progress(struct dev_device *device) {
  uint64_t n_done;
  while (read(device->done_event, &n_done, sizeof n_done) > 0)
    continue;
  bool again = true;
  while (again) {
    again = false;
    for (size_t i = 0; i < DEV_N_QUEUES; i++)
      again |= step(device, &device->queues[i]);
  }
}

uint64_t dev_queues_deadline(const struct dev_device *device) {
  uint64_t deadline = UINT64_MAX;
  for (size_t i = 0; i < DEV_N_QUEUES; i++)
    if (device->queues[i].held != NULL && device->queues[i].held_until_ns < deadline)
      deadline = device->queues[i].held_until_ns;
  return deadline;
}

static bool lose_job(struct dev_job *job, struct dev_fault *fault, uint32_t client) {
  if (job == NULL || (client != 0 && job->client != client))
    return false;
  job->lost = fault;
  return true;
}

void dev_queues_lose(struct dev_device *device, struct dev_fault *fault, uint32_t client) {
  for (size_t i = 0; i < DEV_N_QUEUES; i++) {
    struct dev_queue *queue = &device->queues[i];
    for (struct dev_job *job = queue->first; job != NULL; job = job->next)
      lose_job(job, fault, client);
    if (lose_job(queue->held, fault, client))
      queue->held_until_ns = 0;
    if (!lose_job(queue->running, fault, client) || !queue->kind->can_stop || queue->stopped ||
        device->executor.resume == NULL)
      continue;
    queue->stopped = true;
    device->executor.stop(device->executor.self);
  }
}
