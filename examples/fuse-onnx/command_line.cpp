// SPDX-License-Identifier: BSL-1.0

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fuse/core/printable.hpp>
#include <fuse/core/version.hpp>
#include <new>
#include <string>

#include "commands.hpp"

int fuse_onnx::complain(int status, std::string const& what) {
  std::fprintf(stderr, "fuse-onnx: %s\n", fuse::printable(what).c_str());
  return status;
}

int fuse_onnx::run(int count, char const* const* words) {
  CLI::App app("Rewrites ONNX models: every layer norm and RMS norm, however spelled, becomes one operator.",
               "fuse-onnx");
  app.require_subcommand(1);

  optimize_arguments optimized;
  auto* const optimize_command =
      app.add_subcommand("optimize", "Rewrite a model and report what was done and what was refused");
  optimize_command->add_option("IN", optimized.input, "The model to read")->required();
  optimize_command->add_option("-o,--output", optimized.output, "The model to write; may be IN")->required();
  optimize_command->add_option("--rule", optimized.rules, "Apply this rule only (may be repeated)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  optimize_command->add_option("--except", optimized.except, "Do not apply this rule (may be repeated)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  auto const add_target = [](CLI::App* command, std::string& target) {
    command->add_option("--target", target, "Whom the result is for: any conforming runtime, or onnxruntime")
        ->check(CLI::IsMember({"onnx", "onnxruntime"}))
        ->capture_default_str();
  };
  add_target(optimize_command, optimized.target);
  optimize_command->add_flag("--check", optimized.check,
                             "Compute both sides of each rewrite on random inputs; refuse what differs");
  optimize_command->add_flag("--clean", optimized.clean,
                             "Compute what is constant, share what is computed twice, drop what nobody uses");
  optimize_command->add_flag("--quantise-embeddings", optimized.quantise_embeddings,
                             "Make tables of embeddings elements of 8 bits, and report the errors; for onnxruntime");
  optimize_command->add_option("--report", optimized.report, "How to print the report")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();

  explain_arguments explained;
  auto* const explain_command =
      app.add_subcommand("explain", "Say where rules match, and why they do not where they nearly do");
  explain_command->add_option("IN", explained.input, "The model to read")->required();
  explain_command->add_option("--rule", explained.rule, "This rule only")->type_name("NAME");
  explain_command->add_option("--node", explained.node, "This node only")->type_name("NAME");
  add_target(explain_command, explained.target);
  explain_command
      ->add_option("--limit", explained.limit,
                   "At most so many places where each rule applies, and as many where it is refused")
      ->capture_default_str();

  draw_arguments drawn;
  auto* const draw_command = app.add_subcommand("draw", "Draw a model with frames around what rules would replace");
  draw_command->add_option("IN", drawn.input, "The model to read")->required();
  draw_command->add_option("-o,--output", drawn.output, "The drawing: OUT.dot, or OUT.svg through Graphviz's program")
      ->required();
  draw_command->add_option("--rule", drawn.rule, "Frames of this rule only")->type_name("NAME");
  draw_command->add_option("--around", drawn.around, "Only this node and what is near it")->type_name("NODE");
  draw_command->add_option("--hops", drawn.hops, "How near: so many edges away")->capture_default_str();

  partition_arguments grouped;
  auto* const partition_command =
      app.add_subcommand("partition", "Group what may be one operator, by the kinds of operators, and report it");
  partition_command->add_option("IN", grouped.input, "The model to read")->required();
  partition_command->add_option("-o,--output", grouped.output, "The model to write, each group a function; may be IN");
  partition_command->add_option("--max-depth", grouped.depth, "At most so many nodes in a group")
      ->check(CLI::PositiveNumber);
  partition_command->add_option("--report", grouped.report, "How to print the report")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  partition_command->add_option("--draw", grouped.drawing,
                                "A drawing with a frame for each group: FILE.dot, or FILE.svg by Graphviz's program");

  rules_arguments listed;
  auto* const rules_command = app.add_subcommand("rules", "List the rules, or describe one");
  rules_command->add_option("NAME", listed.rule, "The rule to describe");
  rules_command->add_flag("--program", listed.program, "Also print the program that the rules are lowered to");
  rules_command
      ->add_option("--verify", listed.verify,
                   "Test the rule, or all, on so many random graphs that spell its pattern (200 if no number is given)")
      ->type_name("GRAPHS")
      ->expected(0, 1)
      ->default_str("200");
  rules_command->add_option("--seed", listed.seed, "The first of these graphs")->capture_default_str();
  rules_command->add_option(
      "-o,--output", listed.output,
      "Where to write the smallest graph on which a rule is wrong: a model that holds its inputs");

  try {
    app.parse(count, words);
  } catch (CLI::ParseError const& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    std::string const hint = app.get_subcommands().empty()
                                 ? "fuse-onnx --help"
                                 : "fuse-onnx " + app.get_subcommands().front()->get_name() + " --help";
    return complain(wrong_usage, std::string(error.what()) + "; '" + hint + "' says how it is used");
  }
  try {
    if (optimize_command->parsed()) return optimize(optimized);
    if (explain_command->parsed()) return explain(explained);
    if (draw_command->parsed()) return draw(drawn);
    if (partition_command->parsed()) return partition(grouped);
    return list_rules(listed);
  } catch (std::bad_alloc const&) {
    return complain(bad_input, "there is not enough memory for this model");
  } catch (std::exception const& error) {
    return complain(bad_input, error.what());
  }
}
