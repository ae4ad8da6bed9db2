// Board size, win length and rule, and the single definition of winning lines.
#pragma once

#include "core/types.h"

namespace tengen {

struct Rules {
  int width = 15;
  int height = 15;
  int win_length = 5;
  Rule rule = Rule::kFreestyle;

  int area() const { return width * height; }
  bool operator==(const Rules&) const = default;

  // Whether an unbroken line of `length` stones of `colour` wins. `closed` means enemy stones at both ends.
  bool line_wins(int length, Colour colour, bool closed) const {
    if (length < win_length) return false;
    switch (rule) {
      case Rule::kFreestyle:
        return true;
      case Rule::kStandard:
        return length == win_length;
      case Rule::kRenju:
        return colour == kWhite || length == win_length;
      case Rule::kCaro:
        return length > win_length || !closed;
      case Rule::kCaroExact:
        return length == win_length && !closed;
    }
    return false;
  }
};

// Maximum number of random opening moves, chosen so that neither colour has enough stones to win.
inline int most_opening_moves(const Rules& rules) { return 2 * rules.win_length - 2; }

// Whether enemy stones at both ends prevent a line from winning.
inline bool lines_can_be_closed(const Rules& rules) {
  return rules.rule == Rule::kCaro || rules.rule == Rule::kCaroExact;
}

}  // namespace tengen
