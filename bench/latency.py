# SPDX-License-Identifier: BSL-1.0
"""How long onnxruntime takes for models that compute the same: sessions at its default level in one process, run in shuffled turns.

    latency.py < {"models": [PATH...], "inputs": PATH, "threads": 1, "repetitions": 15, "least seconds": 0.02}

prints, as JSON, the seconds of one run in each turn, a list for each model. The first run of a turn is not timed: it finds the other models'
data in the caches, and the threads of the other sessions still looking for work. With one thread the time is that thread's processor time,
so that other work on the machine counts little; with more it is wall time.

The same model loaded twice into one process may take 5 % more or less, by where its weights lie in memory. So `measured` asks several
processes, each of which loads the models in another order.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import interleave


def seconds_of(opened, feeds, clock):
    def seconds(count):
        opened.run(None, feeds)
        begun = clock()
        for _ in range(count):
            opened.run(None, feeds)
        return clock() - begun

    return seconds


def main():
    import onnxruntime

    import model_inputs

    asked = json.load(sys.stdin)
    feeds = model_inputs.inputs_of(pathlib.Path(asked["inputs"]))[0]
    clock = time.thread_time if asked["threads"] == 1 else time.perf_counter
    candidates = []
    for path in asked["models"]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = asked["threads"]
        options.log_severity_level = 4
        opened = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        candidates.append(interleave.Candidate(path, "", seconds_of(opened, feeds, clock)))
    print(json.dumps(interleave.in_turns(candidates, asked["repetitions"], asked["least seconds"])))


def of_one_process(models, inputs, threads, repetitions, least_seconds):
    asked = {"models": [str(path) for path in models], "inputs": str(inputs), "threads": threads, "repetitions": repetitions,
             "least seconds": least_seconds}
    done = subprocess.run([sys.executable, __file__], input=json.dumps(asked).encode(), capture_output=True, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"latency of {inputs}: {done.stderr.decode(errors='replace')[-2000:]}")
    return json.loads(done.stdout.decode().splitlines()[-1])


def measured(models, inputs, threads, repetitions, processes=3, least_seconds=0.02):
    """The lists of `main`, one behind the other, from so many processes, whose memory is free again behind them."""
    turns = [[] for _ in models]
    for process in range(processes):
        order = list(range(len(models)))
        random.Random(process).shuffle(order)
        found = of_one_process([models[i] for i in order], inputs, threads, repetitions, least_seconds)
        for i, seconds in zip(order, found):
            turns[i] += seconds
    return turns


if __name__ == "__main__":
    main()
