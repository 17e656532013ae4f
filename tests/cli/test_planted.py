#!/usr/bin/python3
"""test_planted.py: the program is linked with a fault planted in what makes a
channel's tables; inspect must find each from the tables alone, say so and end
with status 3, and describe the same mechanisms without a fault. The commands
that built the program are CMake's own, of a build by make or by ninja."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOTTO = pathlib.Path(os.environ["SOTTO"]).resolve()
ROOT = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"])
BUILD = SOTTO.parent
FAULTS = [  # what it is, source, what stands there, what is planted, channels
    ("a coin's h is one unit too large in its 256th bit", "src/channel/odds.c",
     "threshold_from(&h, &odds->threshold[0]);",
     "threshold_from(&h, &odds->threshold[0]); odds->threshold[0].low[0]++;",
     "flip window duchi"),
    ("e^epsilon comes out above the truth by 2^-96", "src/channel/odds.c",
     "wide_exp(&x, ret);", "wide_exp(&x, ret); ret->limb[7]++;",
     "flip window duchi"),
    ("the noise is calibrated to more than epsilon", "src/random/dlaplace.c",
     "wide_subtract(&rate, &margin, &rate);",
     "wide_add(&rate, &margin, &rate);", "laplace"),
    ("one digit of the noise is rounded to 32 bits", "src/random/dlaplace.c",
     "wide_multiply(&p, &scale, &p);\n",
     "wide_multiply(&p, &scale, &p);\n"
     "for (int at = 0; at < 9; at++) { p.limb[at] = 0; }\n", "laplace"),
    ("sigma is a little too small", "src/channel/gaussian.c",
     "    return high;\n}\n\n/* ---- Setting up", "    return high - 1;\n}\n\n/*"
     " ---- Setting up", "gaussian"),
    ("acceptance of the Gaussian is cut to 64 bits", "src/random/dgauss.c",
     "threshold_from(power, &table[i]);",
     "threshold_from(power, &table[i]); table[i].low[4] = 0;", "gaussian"),
]


def shell(command):
    done = subprocess.run(command, shell=True, cwd=BUILD, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {command[:200]}...\n{done.stderr}")
    return done.stdout


def link_command():
    """What links the program."""
    if (BUILD / "build.ninja").exists():
        return shell("ninja -t commands sotto").splitlines()[-1]
    return (BUILD / "CMakeFiles/sotto.dir/link.txt").read_text().strip()


def plant(folder, number, source, before, after, commands):
    """The program with one source changed."""
    text = (ROOT / source).read_text()
    if text.count(before) != 1:
        sys.exit(f"{source}: '{before}' is not there once: mend this test")
    changed = folder / pathlib.Path(source).name
    changed.write_text(text.replace(before, after))
    made, program = folder / f"{number}.o", folder / f"sotto{number}"
    line = next(c for c in commands if c.endswith(f"-c {ROOT / source}"))
    line = re.sub(r" -M[FT] \S+| -MD\b", "", line)
    line = line.replace(f"-c {ROOT / source}", f"-c {changed}")
    shell(re.sub(r" -o \S+", f" -o {made}", line))
    link = commands[-1]
    assert " -o sotto " in link
    link = link.replace(" -o sotto ", f" {made} -o {program} ")
    shell(link)
    return program


def inspect(program, mechanism):
    done = subprocess.run([program, "inspect", mechanism], check=False,
                          capture_output=True, text=True)
    return done.returncode, done.stderr


def main():
    commands = [row["command"] for row in json.loads(
        (BUILD / "compile_commands.json").read_text())]
    commands.append(link_command())
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "d.csv").write_text("a,b,c\n1,2,x\n3,4,y\n5,6,x\n")
        for channel in "laplace gaussian duchi window".split():
            more = ["--delta", "0.001"] if channel == "gaussian" else []
            subprocess.run(
                [SOTTO, "train", "direct", "--data", folder / "d.csv",
                 "--label", "c", "--numbers", channel, "--eps", "2", *more,
                 "-o", folder / channel], check=True, capture_output=True)
        shutil.copy(folder / "laplace", folder / "flip")  # its label's
        for number, (what, source, before, after, hit) in enumerate(FAULTS):
            program = plant(folder, number, source, before, after, commands)
            for channel in hit.split():
                fine, said = inspect(SOTTO, folder / channel)
                status, message = inspect(program, folder / channel)
                found = (fine == 0 and status == 3 and
                         "do not use this mechanism" in message)
                wrong += not found
                print(f"{'found' if found else 'MISSED'}: {what} ({channel}): "
                      f"{fine} {said} {status} {message.strip()}")
    sys.exit(wrong > 0)


main()
