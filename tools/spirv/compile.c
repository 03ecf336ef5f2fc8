/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GLSL of compute shaders to SPIR-V, one behind the other: what `glslangValidator -V --target-env
 * vulkan1.1` makes of each.  glslang reads its own declarations for 0.1 s before the first shader
 * of a process; the others then take some milliseconds.
 *
 * First it writes glslang's version.  Then it reads a shader and writes its module, until there is
 * no more to read; a module of no bytes means that glslang refuses the shader.  Version, shader and
 * module are a length, 4 bytes in the machine's order, and so many bytes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <glslang/build_info.h>

enum { MOST = 1 << 26 }; /* bytes of a shader */

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
static const char version[] =
    TEXT(GLSLANG_VERSION_MAJOR) "." TEXT(GLSLANG_VERSION_MINOR) "." TEXT(GLSLANG_VERSION_PATCH);

static bool tell(const void *bytes, uint32_t size) {
  return fwrite(&size, sizeof(size), 1, stdout) == 1 && fwrite(bytes, 1, size, stdout) == size &&
         fflush(stdout) == 0;
}

/** Compiles a shader and writes what it becomes.  @return whether that was written */
static bool compile(const char *text) {
  const glslang_messages_t messages =
      (glslang_messages_t)(GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT);
  const glslang_input_t input = {
      .language = GLSLANG_SOURCE_GLSL,
      .stage = GLSLANG_STAGE_COMPUTE,
      .client = GLSLANG_CLIENT_VULKAN,
      .client_version = GLSLANG_TARGET_VULKAN_1_1,
      .target_language = GLSLANG_TARGET_SPV,
      .target_language_version = GLSLANG_TARGET_SPV_1_3,
      .code = text,
      .default_version = 100,
      .default_profile = GLSLANG_NO_PROFILE,
      .messages = messages,
      .resource = glslang_default_resource(),
  };
  glslang_shader_t *shader = glslang_shader_create(&input);
  glslang_program_t *program = glslang_program_create();
  size_t words = 0; /* none where it is refused */
  if (glslang_shader_preprocess(shader, &input) && glslang_shader_parse(shader, &input)) {
    glslang_program_add_shader(program, shader);
    if (glslang_program_link(program, messages) && glslang_program_map_io(program)) {
      glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
      words = glslang_program_SPIRV_get_size(program);
    }
  }
  const bool written = words == 0 ? tell("", 0)
                                  : tell(glslang_program_SPIRV_get_ptr(program),
                                         (uint32_t)(words * sizeof(uint32_t)));
  glslang_program_delete(program);
  glslang_shader_delete(shader);
  return written;
}

int main(void) {
  if (!glslang_initialize_process()) {
    fputs("daedalus-spirv: glslang does not start\n", stderr);
    return 1;
  }
  bool good = tell(version, sizeof(version) - 1);
  uint32_t size;
  while (good && fread(&size, sizeof(size), 1, stdin) == 1) {
    char *text = size < MOST ? calloc(1, (size_t)size + 1) : NULL;
    good = text != NULL && fread(text, 1, size, stdin) == size && compile(text);
    free(text);
  }
  glslang_finalize_process();
  return good ? 0 : 1;
}
