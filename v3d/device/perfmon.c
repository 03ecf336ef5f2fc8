/* SPDX-License-Identifier: BSD-2-Clause */
#include "perfmon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timed.h"

void dev_perfmon_unref(struct dev_perfmon *perfmon) {
  if (perfmon != NULL && --perfmon->refs == 0)
    free(perfmon);
}

struct dev_perfmon *dev_perfmon_get(const struct dev_client *client, uint32_t id) {
  struct dev_perfmon *perfmon = dev_handles_get(&client->perfmons, id);
  if (perfmon != NULL)
    perfmon->refs++;
  return perfmon;
}

void dev_perfmon_add(const struct dev_job *job) {
  struct dev_perfmon *perfmon = job->perfmon;
  if (perfmon == NULL || job->modelled == NULL)
    return;
  for (uint32_t i = 0; i < perfmon->n; i++)
    perfmon->values[i] += dev_counters[perfmon->counters[i]].value(&job->modelled->report.times);
}

int dev_ioctl_perfmon_create(struct dev_call *call) {
  struct abi_perfmon_create *create = (struct abi_perfmon_create *)call->arg;
  if (create->n_counters == 0 || create->n_counters > ABI_MAX_COUNTERS)
    return -EINVAL;
  if (!dev_is_timed(call->device))
    return dev_refuse(call, -EINVAL, "performance monitors: only a device with --timed has them");
  for (uint32_t i = 0; i < create->n_counters; i++) {
    if (create->counters[i] >= DEV_N_COUNTERS)
      return -EINVAL;
    const struct dev_counter *counter = &dev_counters[create->counters[i]];
    if (counter->value == NULL)
      return dev_refuse(call, -EINVAL, "performance counter %u (%s) is not modelled",
                        create->counters[i], counter->name);
  }
  struct dev_perfmon *perfmon = calloc(1, sizeof *perfmon);
  if (perfmon == NULL)
    return -ENOMEM;
  perfmon->refs = 1;
  perfmon->n = create->n_counters;
  memcpy(perfmon->counters, create->counters, sizeof perfmon->counters);
  create->id = dev_handles_add(&call->client->perfmons, perfmon);
  if (create->id == 0) {
    dev_perfmon_unref(perfmon);
    return -ENOMEM;
  }
  return 0;
}

int dev_ioctl_perfmon_destroy(struct dev_call *call) {
  const struct abi_perfmon_destroy *destroy = (const struct abi_perfmon_destroy *)call->arg;
  struct dev_perfmon *perfmon = dev_handles_remove(&call->client->perfmons, destroy->id);
  if (perfmon == NULL)
    return -EINVAL;
  dev_perfmon_unref(perfmon);
  return 0;
}

int dev_ioctl_perfmon_get_values(struct dev_call *call) {
  const struct abi_perfmon_values *arg = (const struct abi_perfmon_values *)call->arg;
  if (arg->pad != 0)
    return -EINVAL;
  const struct dev_perfmon *perfmon = dev_handles_get(&call->client->perfmons, arg->id);
  if (perfmon == NULL)
    return -EINVAL;
  return dev_user_write(call, arg->values, perfmon->values, perfmon->n * sizeof *perfmon->values);
}

int dev_ioctl_perfmon_get_counter(struct dev_call *call) {
  struct abi_perfmon_counter *arg = (struct abi_perfmon_counter *)call->arg;
  for (size_t i = 0; i < sizeof arg->reserved; i++)
    if (arg->reserved[i] != 0)
      return -EINVAL;
  if (!dev_is_timed(call->device))
    return -EOPNOTSUPP;
  if (arg->counter >= DEV_N_COUNTERS)
    return -EINVAL;
  const struct dev_counter *counter = &dev_counters[arg->counter];
  memset(arg->name, 0, sizeof arg->name);
  memset(arg->category, 0, sizeof arg->category);
  memset(arg->description, 0, sizeof arg->description);
  snprintf(arg->name, sizeof arg->name, "%s", counter->name);
  snprintf(arg->category, sizeof arg->category, "%s", counter->category);
  snprintf(arg->description, sizeof arg->description, "%s: %s", counter->name,
           counter->value == NULL ? "not modelled" : "by the timing model");
  return 0;
}
