"""An agent's task under execward, as a test of pytest's: it fails when the agent executes what expected.toml has not."""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).parent


def test_the_agent_executes_what_is_expected(tmp_path):
    shutil.copy(HERE / "agent.sh", tmp_path)
    report = pathlib.Path("execs.xml").absolute()
    session = ["execward", "run", "--quiet", "--preset", "ci", "--policy", HERE / "policy.toml"]
    session += ["--audit", tmp_path / "exec.jsonl", "--state", tmp_path / "state"]
    session += ["--expect", HERE / "expected.toml", "--junit", report]
    ran = subprocess.run(
        [*session, "--", "sh", "agent.sh"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
