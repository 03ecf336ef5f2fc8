/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that was built without a recipe; see DAEDALUS_RECIPE in CMakeLists.txt. */
#include "base/recipe.h"

const unsigned char daedalus_rt_recipe_built_in[] = {0};
const size_t daedalus_rt_recipe_built_in_size = 0;
