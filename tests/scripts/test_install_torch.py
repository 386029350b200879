"""Which torch is chosen: the smallest that suits the machine, and never several GB without saying so."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent.parent / "scripts/install_torch.py"
REQUIREMENT = "torch==2.13.0"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("install_torch", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def machine(script, monkeypatch):
    """A machine described in words; returns the options of every installation that was tried."""

    def describe(*, local_wheel=False, system="Linux", gpu=False, working=lambda options: True) -> list[tuple]:
        tried: list[tuple] = []

        def install(requirement: str, *options: str) -> bool:
            assert requirement == REQUIREMENT
            tried.append(options)
            return working(options)

        monkeypatch.setattr(script, "succeeds", lambda command, timeout_s=None: local_wheel)
        monkeypatch.setattr(script.platform, "system", lambda: system)
        monkeypatch.setattr(script, "has_gpu", lambda: gpu)
        monkeypatch.setattr(script, "install", install)
        monkeypatch.delenv("TORCH_INDEX_URL", raising=False)
        return tried

    return describe


def test_the_pin_comes_from_the_project_file(script):
    assert script.pinned() == REQUIREMENT


def test_an_installed_torch_of_any_build_is_kept(script, monkeypatch):
    for version, kept in (("2.13.0", True), ("2.13.0+cpu", True), ("2.13.0+cu130", True), ("2.12.1", False)):
        monkeypatch.setattr(script.importlib.metadata, "version", lambda name, version=version: version)
        assert script.is_installed(REQUIREMENT) is kept


def test_a_local_wheel_is_preferred(script, machine):
    tried = machine(local_wheel=True, gpu=True)
    assert script.choose_and_install(REQUIREMENT)
    assert tried == [("--no-index",)]


@pytest.mark.parametrize("description", [{"system": "Darwin"}, {"gpu": True}])
def test_a_mac_and_a_gpu_use_the_ordinary_build(script, machine, description):
    tried = machine(**description)
    assert script.choose_and_install(REQUIREMENT)
    assert tried == [()]


def test_any_other_machine_uses_the_cpu_build(script, machine, monkeypatch):
    tried = machine()
    assert script.choose_and_install(REQUIREMENT)
    monkeypatch.setenv("TORCH_INDEX_URL", "https://mirror.example/cpu")
    assert script.choose_and_install(REQUIREMENT)
    assert [options[:2] for options in tried] == [
        ("--index-url", "https://download.pytorch.org/whl/cpu"),
        ("--index-url", "https://mirror.example/cpu"),
    ]


def test_without_the_cpu_index_the_download_size_is_announced_first(script, machine, capsys):
    tried = machine(working=lambda options: options == ())
    assert script.choose_and_install(REQUIREMENT)
    assert tried[-1] == ()
    assert "a download of about 3 GB" in capsys.readouterr().out


def test_if_nothing_works_it_says_what_to_do(script, machine, monkeypatch, capsys):
    machine(working=lambda options: False)
    monkeypatch.setattr(script, "is_installed", lambda requirement: False)
    assert script.main() == 1
    assert "connect to a package index, or point pip at a local wheel" in capsys.readouterr().err
