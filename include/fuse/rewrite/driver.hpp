// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/rewrite/application.hpp>
#include <fuse/rewrite/compiled_rules.hpp>
#include <fuse/rewrite/near_misses.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/refusals.hpp>
#include <fuse/rewrite/report.hpp>
#include <fuse/rewrite/rule_order.hpp>
#include <fuse/rewrite/targets.hpp>
#include <fuse/rewrite/worklist.hpp>

namespace fuse::inline v0::detail {

/// Applies a program to an image until nothing changes: stage by stage, users before producers, so that a larger match
/// is seen before a smaller one inside it. Deterministic. A rewrite that is refused leaves no trace; linear in
/// practice, since a change only brings back the nodes around it.
template <class Image>
class basic_driver final : machine::acceptor {
 public:
  basic_driver(compiled_rules const& of, Image& image, facts& known, dialect const& names,
               rewrite_options const& options, rewrite_report& report)
      : rules_(of.tables.rules),
        image_(image),
        facts_(known),
        options_(options),
        report_(report),
        machine_(of.tables, image, known, names),
        near_misses_(machine_, image, known, names),
        application_(machine_, image, known, names, options),
        refusals_(image),
        reach_(of.reach),
        turns_(of.order),
        selected_(rules_.rules.size(), true),
        begins_(static_cast<std::size_t>(opcode::count_)),
        last_stage_(begins_.size(), -1),
        waiting_(image) {
    report_.rules.resize(rules_.rules.size());
    for (std::size_t i = 0; i < rules_.rules.size(); ++i) report_.rules[i].name = rules_.rules[i].name;
    if (!options.filter) machine_.look_for(search_for::failures);
    list_last_stages();
    if (!select()) return;
    leave_out_other_targets(names);
    describe_selected(of.counts);
    fused_by_.resize(image.node_count(), 0);
  }

  void run() {
    if (!report_.error.empty()) return;
    budget_ = std::size_t{16} * image_.node_count() + 1024;
    half_budget_ = budget_ / 2;
    for (int stage = 0; stage < rules_.stages && budget_ != 0; ++stage) {
      if (!has_rules_[static_cast<std::size_t>(stage)]) continue;
      enter_stage(stage);
      if (std::exchange(changed_, false)) machine_.look();
      auto const before = costly_.size();
      visit_all();
      for (int i = 0; i < cost_rounds && may_pay(before); ++i) {
        wait(list_costly(before));
        visit_waiting();
      }
      waiting_.clear();
      visit_further_up();
      if (options_.near_misses) add_near_misses();
    }
    // What a later stage made may be what an earlier one looks for, or have replaced what made a match too dear: once
    // more around it, until nothing is.
    late_rounds_ = true;
    for (int i = 0; (!late_.empty() || (i < cost_rounds && may_pay(0)) || may_be_same()) && budget_ != 0; ++i) {
      auto again = std::exchange(late_, {});
      if (i < cost_rounds && may_pay(0)) again.append(span(list_costly(0)));
      if (may_be_same()) list_doubtful(again);
      for (int stage = 0; stage < rules_.stages; ++stage) {
        if (!has_rules_[static_cast<std::size_t>(stage)]) continue;
        enter_stage(stage);
        wait(again);
        visit_waiting();
        visit_further_up();
      }
      waiting_.clear();
    }
    if (budget_ == 0) name_the_restless();
    for (std::size_t i = 0; i < unchecked_.size(); ++i)
      if (unchecked_[i] != 0)
        report_.notes.push_back("of rule '" + report_.rules[i].name + "', " + std::to_string(unchecked_[i]) +
                                " rewrites were not checked: " + why_unchecked_[i]);
    if (exceeded_ != 0)
      report_.notes.push_back("the search at " + std::to_string(exceeded_) + " nodes reached a bound, of " +
                              std::to_string(machine::step_limit) +
                              " steps, 1024 users or 1024 sets of like terms, and was cut off there");
    if (bounded_ != 0)
      report_.notes.push_back("the search at " + std::to_string(bounded_) +
                              " nodes met a sum or product of more than " + std::to_string(opened_group::capacity) +
                              " parts with the operators between them, the rest of which stayed closed");
    refusals_.tell(report_, [&](auto const& r) { return stands(r); });
  }

  /// Whether a node took part in a rewrite.
  [[nodiscard]] bool fused(node_id n) const { return n < fused_by_.size() && fused_by_[n] != 0; }
  [[nodiscard]] std::vector<bool> const& selected() const { return selected_; }

 private:
  using refused_match = typename basic_refusals<Image>::refused_match;

  // Time is told apart by phases, for whoever has a clock.
  struct phase {
    observer const& to;
    explicit phase(observer const& who) : to(who) { tell("rewrite"); }
    phase(phase const&) = delete;
    phase& operator=(phase const&) = delete;
    ~phase() { tell("match"); }
    void tell(std::string_view name) const {
      if (to.phase != nullptr) to.phase(to.context, name);
    }
  };

  bool select() {
    auto const find = [&](std::string const& name) {
      for (std::size_t i = 0; i < rules_.rules.size(); ++i)
        if (rules_.rules[i].name == name) return static_cast<std::ptrdiff_t>(i);
      report_.error = "there is no rule '" + name + "'; the rules are";
      for (auto const& r : rules_.rules) report_.error += " " + std::string(r.name);
      return std::ptrdiff_t{-1};
    };
    if (!options_.only.empty()) selected_.assign(selected_.size(), false);
    for (auto const& name : options_.only) {
      auto const at = find(name);
      if (at < 0) return false;
      selected_[static_cast<std::size_t>(at)] = true;
    }
    for (auto const& name : options_.except) {
      auto const at = find(name);
      if (at < 0) return false;
      selected_[static_cast<std::size_t>(at)] = false;
    }
    return true;
  }

  // Rules that make operators of another target have nothing to say.
  void leave_out_other_targets(dialect const& names) {
    rule_targets const told(rules_, names, image_.version, options_.target);
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      if (!selected_[i]) continue;
      auto const missing = told.missing(rules_.rules[i]);
      if (missing.empty()) continue;
      selected_[i] = false;
      report_.rules[i].left_out = std::string(missing) + " is for another target";
      if (!options_.only.empty())
        report_.notes.push_back("rule '" + report_.rules[i].name + "' makes operators of another target");
    }
  }

  // What is to be known of all rules that are selected.
  void describe_selected(counted_users const& counts) {
    has_rules_.assign(static_cast<std::size_t>(rules_.stages), false);
    opcode_set counted{};
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      if (!selected_[i]) continue;
      has_rules_[static_cast<std::size_t>(rules_.rules[i].stage)] = true;
      counted.add(counts[i]);
    }
    application_.count_users(counted);
  }

  // Every node, users before producers. Later stages pass over those that are gone by then, or that none begins at.
  void visit_all() {
    auto const listed = nodes_.size(), all = listed + image_.node_count() - listed_;
    nodes_.resize(all);
    for (auto at = listed; at < all; ++at) nodes_[at] = listed_++;
    auto kept = all;
    for (auto at = all; at-- > 0;) {
      auto const n = nodes_[at];
      auto const& node = image_.node(n);
      if (!node.alive) continue;
      if (last_stage_[node.tag.op] > stage_ || last_stage_by_name(node.tag.name) > stage_) nodes_[--kept] = n;
      if (matters(n)) {
        reached_ = n;
        visit(n);
        visit_waiting();
      }
      if (at % 4096 == 0 && options_.observer.progress != nullptr)
        options_.observer.progress(options_.observer.context, stage_, all - at, all);
    }
    nodes_.erase_first(kept);
    reached_ = 0;
  }

  // The last stage in which a rule begins at an operator.
  void list_last_stages() {
    for (std::size_t op = 0; op < last_stage_.size(); ++op)
      for (int stage = 0; stage < rules_.stages; ++stage)
        if (machine_.begins(static_cast<opcode>(op), stage)) last_stage_[op] = stage;
    for (auto const& e : rules_.entries) {
      if (!e.by_name) continue;
      if (e.tag >= last_stage_by_name_.size()) last_stage_by_name_.resize(e.tag + std::size_t{1}, -1);
      if (e.stage > last_stage_by_name_[e.tag]) last_stage_by_name_[e.tag] = e.stage;
    }
  }
  [[nodiscard]] int last_stage_by_name(std::uint16_t name) const {
    return name < last_stage_by_name_.size() ? last_stage_by_name_[name] : -1;
  }

  // Where rules of a stage begin: at most nodes none does.
  void enter_stage(int stage) {
    stage_ = stage;
    for (std::size_t op = 0; op < begins_.size(); ++op) begins_[op] = machine_.begins(static_cast<opcode>(op), stage);
    begins_by_name_.clear();
    for (auto const& e : rules_.entries) {
      if (e.stage != stage || !e.by_name) continue;
      if (e.tag >= begins_by_name_.size()) begins_by_name_.resize(e.tag + std::size_t{1}, false);
      begins_by_name_[e.tag] = true;
    }
  }
  [[nodiscard]] bool matters(node_id n) const {
    auto const& node = image_.node(n);
    return node.alive &&
           (begins_[node.tag.op] || (node.tag.name < begins_by_name_.size() && begins_by_name_[node.tag.name]));
  }

  void visit(node_id n) {
    if (budget_ == 0) return;
    root_ = n;
    bool const applied = rewrite_at(n);
    if (!applied && machine_.told_apart() && (doubtful_.empty() || doubtful_.back().root != n))
      doubtful_.push_back({n, applied_});
    if (machine_.found().exceeded) ++exceeded_;
    if (!applied && machine_.found().bounded) ++bounded_;
    refusals_.leave(applied);
  }

  // Tries all matches at a node, and where none is right but one may be in a wider element type, all once more in that
  // one, between two Casts.
  bool rewrite_at(node_id n) {
    auto const search = [&] { return machine_.run(n, stage_, *this); };
    computed_in_ = wider_ = element_type::unknown;
    if (turns_.take(search)) return true;
    computed_in_ = wider_;
    return wider_ != element_type::unknown && turns_.take(search);
  }

  // A condition of a match that is otherwise complete.
  void refuse(std::uint16_t rule, std::uint16_t condition) override {
    if (!selected_[rule]) return;
    auto const& c = rules_.conditions[condition].what;
    std::string text(c.name.empty() ? std::string_view("a predicate") : c.name);
    std::string names;
    for (std::size_t i = 0; i < c.count; ++i) names += (i == 0 ? "" : ", ") + std::string(c.captures[i]);
    auto reason = "the condition '" + text + "' of (" + names + ") does not hold";
    refuse(rule, std::move(text), std::move(reason), false);
  }
  void refuse(std::uint16_t rule, std::string condition, std::string reason, bool matched) {
    refusals_.add({rule, root_, witness(), image_.source->node_name(root_), std::move(condition), std::move(reason),
                   matched, rules_.rules[rule].silent});
  }

  // Whether a refusal is news in the end: not where the place was rewritten after all, or the same rule has taken what
  // it was found in from another place, and it is gone; and of a quiet rule only where it is found in the graph as it
  // is left.
  [[nodiscard]] bool stands(refused_match const& r) {
    auto const gone = [&](node_id n) { return fused(n) && !image_.node(n).alive; };
    if (!r.lasting && (gone(r.root) || (gone(r.witness) && fused_by_[r.witness] == r.rule + 1))) return false;
    if (!r.quiet) return true;
    finder again(r.rule);
    if (image_.node(r.root).alive) machine_.run(r.root, rules_.rules[r.rule].stage, again);
    return r.matched ? again.matched : again.refused;
  }
  // Whether a rule is found at a node: whole, or but for a condition.
  struct finder final : machine::acceptor {
    explicit finder(std::uint16_t wanted) : rule(wanted) {}
    bool accept(std::uint16_t found) override {
      matched = matched || found == rule;
      return false;
    }
    void refuse(std::uint16_t found, std::uint16_t) override { refused = refused || found == rule; }
    std::uint16_t rule;
    bool matched = false, refused = false;
  };

  // The node that tells matches of one thing apart: the last one but for sums and products, which matches of other
  // things open as well, and for what is looked through; else the first node.
  [[nodiscard]] node_id witness() const {
    auto const all = machine_.found().matched();
    for (std::size_t i = all.size(); i-- > 0;)
      if (auto const op = op_of(image_, all[i]); info(op).group == op_group::none && !may_keep_elements(op))
        return all[i];
    return all.empty() ? root_ : all[0];
  }

  bool accept(std::uint16_t rule) override {
    if (!selected_[rule] || turns_.waits(rule)) return false;
    phase const rewriting(options_.observer);
    auto const origin = image_.source->node_name(root_);
    auto outcome = application_.apply(rule, root_, computed_in_, origin);
    if (outcome.is == rewrite_outcome::kind::unchanged) return false;
    if (outcome.is == rewrite_outcome::kind::refused) {
      if (outcome.why.wider != element_type::unknown) wider_ = outcome.why.wider;
      if (outcome.costly && (costly_.empty() || costly_.back().root != root_)) costly_.push_back({root_, applied_});
      refuse(rule, outcome.why.condition, std::move(outcome.why.reason), true);
      return false;
    }
    ++applied_;
    look_again(rule);
    ++report_.rules[rule].matched;
    ++report_.rules[rule].applied;
    if (!outcome.unchecked.empty()) {
      unchecked_.resize(report_.rules.size(), 0);
      why_unchecked_.resize(report_.rules.size());
      if (unchecked_[rule]++ == 0) why_unchecked_[rule] = std::move(outcome.unchecked);
    }
    if (budget_ != 0 && --budget_ == half_budget_) half_way_ = report_.rules;
    auto const& to = options_.observer;
    if (to.applied != nullptr) to.applied(to.context, rules_.rules[rule].name, origin);
    return true;
  }

  // A match that costs more than it saves while others use what it would replace may pay once these are gone.
  static constexpr int cost_rounds = 8;
  struct refused_place {
    node_id root;
    std::size_t applied;  // how many rewrites there had been
  };
  // Whether something was rewritten since the first of those from `first` on was refused.
  [[nodiscard]] bool may_pay(std::size_t first) const {
    return first < costly_.size() && costly_[first].applied != applied_ && budget_ != 0;
  }
  // Takes out the roots of those from `first` on, which are looked at anew.
  plain_vector<node_id> list_costly(std::size_t first) {
    plain_vector<node_id> roots;
    for (auto at = costly_.size(); at-- > first;)
      if (auto const root = costly_[at].root; image_.node(root).alive && (roots.empty() || roots.back() != root))
        roots.push_back(root);
    costly_.resize(first);
    return roots;
  }

  // Where two values were told apart, they may be one computation once something below has been rewritten, however far.
  [[nodiscard]] bool may_be_same() const { return !doubtful_.empty() && doubtful_[0].applied != applied_; }
  void list_doubtful(plain_vector<node_id>& into) {
    machine_.compare_anew();
    begin_round();
    std::size_t count = 0;  // those since the last rewrite have seen all there is
    while (count < doubtful_.size() && doubtful_[count].applied != applied_) ++count;
    for (auto at = count; at-- > 0;)
      if (auto const root = doubtful_[at].root; image_.node(root).alive && seen_[root].round != round_) {
        seen_[root].round = round_;
        into.push_back(root);
      }
    doubtful_.erase_first(count);
  }
  void begin_round() {
    if (seen_.size() < image_.node_count()) seen_.resize(image_.node_count() + image_.node_count() / 8);
    ++round_;
  }

  // How many operators may stand above what computes `v`, or anything (absent). A constant may be one that a condition
  // asks for, at the end of a pattern.
  [[nodiscard]] int above(value_id v) const {
    auto const stage = patterns_so_far();
    auto const n = v == absent ? absent : image_.producer(v);
    if (v != absent && n == absent) return image_.value(v).constant ? reach_.most(stage) : pattern_reach::none;
    if (n == absent || reach_.passes(image_.node(n).tag)) return reach_.most(stage);
    return reach_.above(stage, op_of(image_, n));
  }

  // What changed may match again: whatever reads it, and the new nodes.
  void look_again(std::uint16_t rule) {
    changed_ = true;
    auto const first = application_.first_node(), last = image_.node_count();
    if (fused_by_.size() < last) fused_by_.resize(last + last / 8, 0);
    for (auto n : machine_.found().matched())
      if (fused_by_[n] == 0) fused_by_[n] = static_cast<std::uint16_t>(rule + 1);
    for (auto n = first; n < last; ++n) machine_.add(n);
    auto const readers = application_.readers();
    for (auto i = readers.size(); i-- > 0;)
      climbs_.push_back({readers[i].node, above(readers[i].of)}), look_at(readers[i].node);
    for (auto n = last; n-- > first;) look_now_and_late(n);
  }

  // What reads something new. Where it leaves that as it is, no rule may begin there, but where it is read itself:
  // through chains of at most 8, as everywhere.
  void look_at(node_id reader, int passed = 0) {
    if (passed < 8 && may_keep_elements(op_of(image_, reader)) && unchanged(image_, facts_, reader))
      image_.for_each_user(image_.result(reader), [&](node_id user) { look_at(user, passed + 1); });
    machine_.look(reader);
    look_now_and_late(reader);
  }

  // Then, all at once, what may be the root of a pattern that has something new inside: so many operators further up,
  // where sums and products, and what leaves a value as it is, count for none. Every node is passed once for each
  // number.
  void look_further_up() {
    begin_round();
    auto const stage = patterns_so_far();
    while (!climbs_.empty()) {
      auto const at = climbs_.back();
      climbs_.pop_back();
      auto const n = at.node;
      auto& seen = seen_[n];
      if (!image_.node(n).alive || (seen.round == round_ && seen.operators >= at.operators)) continue;
      if (seen.round != round_) look_now_and_late(n);
      seen = {round_, at.operators};
      auto const op = op_of(image_, n);
      bool const passed = reach_.passes(image_.node(n).tag);
      if (!passed && (at.operators <= 0 || reach_.above(stage, op) == pattern_reach::none)) continue;
      auto const left = passed ? at.operators : at.operators - 1;
      for (std::uint32_t k = 0; k < image_.node(n).result_count; ++k)
        image_.for_each_user(image_.result(n, k), [&](node_id user) { climbs_.push_back({user, left}); });
    }
  }
  [[nodiscard]] int patterns_so_far() const { return late_rounds_ ? rules_.stages - 1 : stage_; }

  void wait(plain_vector<node_id> const& nodes) {
    for (auto n : nodes)
      if (matters(n)) waiting_.add(n);
  }
  // In this stage, and in the stages before it once all have had their turn. What the walk over all nodes has not
  // reached yet has its turn there: what reads it may be a larger match.
  void look_now_and_late(node_id n) {
    if (n >= reached_ && matters(n)) waiting_.add(n);
    if (stage_ != 0 || late_rounds_) late_.push_back(n);
  }

  void visit_waiting() {
    while (!waiting_.empty() && budget_ != 0)
      if (auto const next = waiting_.take(); matters(next)) visit(next);
  }

  void visit_further_up() {
    while (!climbs_.empty() && budget_ != 0) {
      look_further_up();
      visit_waiting();
    }
    waiting_.clear();
  }

  // By stages, before smaller rules take what is left.
  void add_near_misses() {
    near_misses_.find(
        stage_, selected_, [&](node_id n) { return fused(n); },
        [&](explanation const& why) {
          refusals_.add_near_miss({why.rule, why.node, why.node, image_.source->node_name(why.node), why.condition,
                                   to_text(why), false, false, why.other_reduction});
        });
  }

  void name_the_restless() {
    std::string names;
    for (std::size_t i = 0; i < half_way_.size(); ++i)  // those that have gone on beyond any number of useful rewrites
      if (report_.rules[i].applied != half_way_[i].applied) names += " " + report_.rules[i].name;
    report_.notes.push_back("the budget of rewrites is used up; rules that keep undoing each other:" + names +
                            "; the graph is as they left it");
  }

  program const& rules_;
  Image& image_;
  facts const& facts_;
  rewrite_options const& options_;
  rewrite_report& report_;
  machine machine_;
  basic_near_misses<Image> near_misses_;
  basic_application<Image> application_;
  basic_refusals<Image> refusals_;
  pattern_reach const& reach_;
  rule_turns turns_;
  std::vector<bool> selected_, has_rules_;  // by rule; by stage: whether one of its rules is selected
  plain_vector<std::uint16_t> fused_by_;    // by node: 0, or 1 + the first rule that it took part in a rewrite of
  plain_vector<std::uint8_t> begins_, begins_by_name_;  // by opcode, by code of a name
  plain_vector<int> last_stage_, last_stage_by_name_;
  plain_vector<std::uint32_t> unchecked_;   // rewrites by rule, empty where there is none
  std::vector<std::string> why_unchecked_;  // ... of the first
  basic_worklist<Image> waiting_;
  plain_vector<node_id> late_;
  struct climb {
    node_id node;
    int operators;  // that may stand above what it reads
  };
  plain_vector<climb> climbs_;
  struct passed_with {
    std::uint32_t round;
    int operators;
  };
  plain_vector<passed_with> seen_;  // by node: in which round it was passed, with the most operators
  std::uint32_t round_ = 0;
  bool late_rounds_ = false;
  plain_vector<node_id> nodes_;  // of the first `listed_`, those that a stage left for later ones
  node_id listed_ = 0;
  node_id reached_ = 0;  // of the walk over all nodes, which goes down; else 0
  int stage_ = 0;
  bool changed_ = false;  // since the machine last took in the whole image
  element_type computed_in_ = element_type::unknown, wider_ = element_type::unknown;
  node_id root_ = absent;
  plain_vector<refused_place> costly_, doubtful_;
  std::size_t applied_ = 0;  // rewrites of all rules
  std::size_t budget_ = 0, exceeded_ = 0, bounded_ = 0;
  std::size_t half_budget_ = 0;
  std::vector<rule_report> half_way_;
};
using driver = basic_driver<graph_image>;

}  // namespace fuse::inline v0::detail
