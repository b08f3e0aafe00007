// SPDX-License-Identifier: BSL-1.0
#include "../example.hpp"

#include "../named_rules.hpp"
#include "../random_rules.hpp"
#include "../random_sums.hpp"

namespace soundness {

member const& member_numbered(std::size_t number) {
  if (number >= sums::first) return sums::members().at(number - sums::first);
  if (number >= drawn::first) return drawn::members().at(number - drawn::first);
  if (number >= 200) return second_named_members[number - 200];
  return number >= 100 ? named_members[number - 100] : neutral_members[number];
}

std::optional<array> own_operator(std::string_view name, std::vector<array const*> const& in,
                                  corpus::parameters const& attributes) {
  if (name == "test::Blend") return blend(in, attributes)[0];
  if (name != "test::Formula" && name != "test::Product") return std::nullopt;
  auto made = evaluate(member_numbered(static_cast<std::size_t>(attributes.number({"rule"}, -1))), in, attributes);
  if (name == "test::Formula")  // which its row says: the pattern may need less of an operand
    for (auto const* each : in)
      if (each != nullptr) made = combine(made, *each, [](double a, double) { return a; });
  return made;
}

}  // namespace soundness
