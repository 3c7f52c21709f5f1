"""What a killed server leaves is removed by the next one, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envhub.server.run_directory import run_directory, sweep


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path))


def test_it_is_removed_at_exit() -> None:
    with run_directory("web") as folder:
        (folder / "file").write_text("x")
        assert folder.name.startswith("web-")
        assert oct(folder.stat().st_mode)[-3:] == "700"
    assert not folder.exists()


def test_one_in_use_is_left_alone(tmp_path: Path) -> None:
    with run_directory("web") as mine, run_directory("web") as other:
        assert sweep(tmp_path / "run") == []
        assert mine.exists()
        assert other.exists()


def test_what_a_killed_process_leaves_is_swept_by_the_next() -> None:
    code = (
        "from envhub.server.run_directory import run_directory; import time\n"
        "with run_directory('web') as folder: print(folder, flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert owner.stdout is not None
    left = Path(owner.stdout.readline().strip())
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert left.exists()
    with run_directory("web"):
        assert not left.exists()
