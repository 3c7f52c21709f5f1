"""Records that running servers leave for local clients."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from envhub.sdk import paths


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENVHUB_HOME", str(tmp_path / "home"))


def record(url: str, token: str) -> paths.ServerRecord:
    return {"url": url, "token": token, "pid": 1, "environments": ["test"]}


def test_token_file_is_readable_by_its_user_alone() -> None:
    file = paths.write_server_record(8000, record("http://127.0.0.1:8000", "t"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_token_is_found_by_url_and_the_last_server_on_a_port_counts() -> None:
    paths.write_server_record(8000, record("http://127.0.0.1:8000", "old"))
    paths.write_server_record(8000, record("http://127.0.0.1:8000", "new"))
    assert paths.find_server_token("http://127.0.0.1:8000/") == "new"
    assert paths.find_server_token("http://127.0.0.1:8001") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '"text"'])
def test_broken_record_is_passed_over(content: str) -> None:
    paths.servers_dir().mkdir(parents=True)
    (paths.servers_dir() / "1.json").write_text(content, encoding="utf-8")
    assert paths.find_server_token("http://127.0.0.1:1") is None


def test_localhost_and_a_trailing_slash_name_the_same_server() -> None:
    paths.write_server_record(8401, record("http://127.0.0.1:8401", "t"))
    assert paths.find_server_token("http://localhost:8401/") == "t"
    assert paths.find_server_token("http://localhost:8402") is None
