// One binding function per area, each in its own file; module.cpp calls them all. Bindings define names and docstrings,
// convert arguments and release the GIL. They check array shapes; the bound classes check everything else.
#pragma once

#include <nanobind/nanobind.h>

#include "core/board.h"

namespace tengen::bindings {

namespace nb = nanobind;

void bind_core(nb::module_& m);
void bind_critic(nb::module_& m);
void bind_envs(nb::module_& m);
void bind_fudan(nb::module_& m);
void bind_game_batch(nb::module_& m);
void bind_patterns(nb::module_& m);
void bind_play(nb::module_& m);
void bind_puct(nb::module_& m);
void bind_rollout(nb::module_& m);
void bind_search(nb::module_& m);
void bind_tools(nb::module_& m);

}  // namespace tengen::bindings
