// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/infer/congruence.hpp>
#include <fuse/match/filter/filter.hpp>
#include <fuse/match/interpreter.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The matching machine: looks for the rules of a program on a graph. It knows where they begin, what cannot match, and
/// what has changed; the interpreter goes through the program from there. `exceeded` tells that a search was cut off at
/// a bound. What the facts know must be known when a machine is made, or told by `look`.
template <class Image>
class basic_machine {
 public:
  using acceptor = match_acceptor;
  static constexpr int step_limit = basic_interpreter<Image>::step_limit;

  basic_machine(filter_tables const& of, Image const& image, facts const& known, dialect const& names)
      : rules_(of.rules),
        image_(image),
        names_(names),
        congruent_(image, known, names_),
        filter_(of, image, known),
        interpreter_(rules_, image, known, names_, congruent_, filter_) {}
  basic_machine(basic_machine const&) = delete;
  basic_machine& operator=(basic_machine const&) = delete;

  /// Takes in what has changed in the image: all of it, before the next match is looked for, or the results of one
  /// node. Till then the sets of operators are larger than they need be, which lets nothing be missed.
  void look() {
    stale_ = true;
    interpreter_.forget();
  }
  void look(node_id n) {
    interpreter_.forget();
    filter_.update(n);
    congruent_.update(n);
  }
  /// A new node; whoever uses it is looked at next.
  void add(node_id n) {
    interpreter_.forget();
    filter_.add(n);
    congruent_.update(n);
  }

  /// Takes in for whatever compares two values that any may be another computation than it was. Linear in the image
  /// with the next comparison, if there is one.
  void compare_anew() { congruent_.update(); }

  /// What is looked for: what cannot be that is told apart before (match/filter/). All matches are found whenever all
  /// failures are, in a longer time.
  void look_for(search_for what) {
    filter_.look_for(what);
    interpreter_.forget();
  }
  [[nodiscard]] search_for looks_for() const { return filter_.looks_for(); }

  [[nodiscard]] program const& rules() const { return rules_; }
  [[nodiscard]] congruence& congruent() { return congruent_; }
  /// The match, while it is accepted.
  [[nodiscard]] match_state const& found() const { return interpreter_.found(); }
  /// Whether it went no further where two values are different computations: a change below, however far, may make them
  /// the same.
  [[nodiscard]] bool told_apart() const { return congruent_.told_apart(); }

  /// Whoever is told of every failure, or nobody.
  void listen(failure_listener* to) { interpreter_.listen(to); }

  /// Matches the rules of `stage` at node `n`. The bindings are those of the match during `accept`.
  bool run(node_id n, int stage, acceptor& to) {
    start(n);
    if (!may_match(n, stage)) return false;
    if (stale_) take_in();
    return run_stage(n, stage, to);
  }

  /// The same for all stages in turn, in a graph that nobody changes meanwhile.
  void run(node_id n, acceptor& to) {
    start(n);
    if (!may_match(n, rules_.stages)) return;
    if (stale_) take_in();
    run_stages(n, to);
  }

  /// The same for every node, users before producers.
  void run(acceptor& to) {
    if (stale_) take_in();
    filter_.for_each_hopeful([&](node_id n) {
      interpreter_.begin();
      run_stages(n, to);
    });
  }

  /// Whether a rule of `stage` begins with the operator of `n`.
  [[nodiscard]] bool has_entry(node_id n, int stage) const {
    auto const& of = filter_.entrances_at(n, stage);
    return of.first != of.last || filter_.has_name(n);
  }
  /// The same of an operator.
  [[nodiscard]] bool begins(opcode op, int stage) const {
    auto const& of = filter_.entrances_of(op, stage);
    return of.first != of.last;
  }
  /// Whether `run` may have anything to do: of most nodes, this is all.
  [[nodiscard]] bool may_match(node_id n, int stage) const { return filter_.may_match(n, stage); }
  /// The node at which rules were last looked for; while a match is accepted, that of its root.
  [[nodiscard]] node_id root() const { return interpreter_.root(); }

 private:
  void take_in() {
    stale_ = false;
    filter_.update();
    congruent_.update();
  }

  [[gnu::always_inline]] void start(node_id n) {
    interpreter_.begin();
    congruent_.forget_told_apart();
    filter_.expect_before(n);
  }

  bool run_stage(node_id n, int stage, acceptor& to) {
    return image_.node(n).result_count != 0 &&
           filter_.any_entrance(n, stage, [&](entrance const& e) { return enter(n, e, to); });
  }
  // At a node whose operator rules begin with by name, they come stage by stage among the others.
  void run_stages(node_id n, acceptor& to) {
    if (image_.node(n).result_count == 0) return;
    if (filter_.entrances_at(n, rules_.stages).named && filter_.has_name(n)) {
      for (int stage = 0; stage < rules_.stages; ++stage) run_stage(n, stage, to);
      return;
    }
    int done = -1;  // the last stage that has accepted
    filter_.any_entrance(n, rules_.stages, [&](entrance const& e) {
      if (e.stage != done && enter(n, e, to)) done = e.stage;
      return false;
    });
  }

  bool enter(node_id n, entrance const& e, acceptor& to) {
    return filter_.leads_on(n, e) && interpreter_.enter(n, e, to);
  }

  program const& rules_;
  Image const& image_;
  dialect const names_;
  congruence congruent_;
  basic_filter<Image> filter_;
  basic_interpreter<Image> interpreter_;
  bool stale_ = false;  // the image has changed
};
using machine = basic_machine<graph_image>;

#ifdef FUSE_REWRITE_SEPARATE
extern template class basic_machine<graph_image>;
#endif

}  // namespace fuse::inline v0::detail
