#include "bindings/bindings.h"

NB_MODULE(_native, m) {
  // Objects that live until the interpreter exits are not leaks, and an engine must keep its error stream clean.
  nanobind::set_leak_warnings(false);
  m.doc() = "The native core of Tengen. Use it through the packages of tengen, not directly.";
  tengen::bindings::bind_core(m);
  tengen::bindings::bind_play(m);
  tengen::bindings::bind_envs(m);
  tengen::bindings::bind_game_batch(m);
  tengen::bindings::bind_patterns(m);
  tengen::bindings::bind_search(m);
  tengen::bindings::bind_rollout(m);
  tengen::bindings::bind_fudan(m);
  tengen::bindings::bind_puct(m);
  tengen::bindings::bind_critic(m);
  tengen::bindings::bind_tools(m);
}
