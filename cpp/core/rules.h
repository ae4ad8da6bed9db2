// What is played: board size, win length, rule; and the one place that says when a line wins.
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

  // Whether an unbroken line of `length` stones of `colour` wins. `closed` says that enemy stones stand at both ends.
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

// Whether enemy stones at both ends can spoil a winning line.
inline bool lines_can_be_closed(const Rules& rules) {
  return rules.rule == Rule::kCaro || rules.rule == Rule::kCaroExact;
}

}  // namespace tengen
