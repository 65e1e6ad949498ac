"""What a release consists of."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ui_mcp.version import version_line

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from release import executable_name, freeze, installed  # noqa: E402
from version import stamped, version  # noqa: E402

CARRIED = ["base/html/index.html", "base/README.md", "base/event", "claude/skills/ui/SKILL.md", "base/lua/main.lua"]


@pytest.mark.covers("UI-REL-3")
@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "ui-mcp-linux-amd64"),
        ("Linux", "aarch64", "ui-mcp-linux-arm64"),
        ("Darwin", "x86_64", "ui-mcp-darwin-amd64"),
        ("Darwin", "arm64", "ui-mcp-darwin-arm64"),
        ("Windows", "AMD64", "ui-mcp-windows-amd64.exe"),
    ],
)
def test_each_platform_has_its_file_name(system: str, machine: str, name: str) -> None:
    assert executable_name(system, machine) == name
    assert name in (ROOT / ".github" / "workflows" / "release.yml").read_text()


@pytest.mark.covers("UI-REL-3")
def test_a_platform_without_a_release_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="FreeBSD on riscv64"):
        executable_name("FreeBSD", "riscv64")


@pytest.mark.covers("UI-REL-1")
def test_the_environment_overrides_the_version_and_must_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERSION", "v9.8.7")
    assert version() == "9.8.7"

    monkeypatch.setenv("VERSION", "latest")
    with pytest.raises(ValueError, match="latest"):
        version()


def test_stamping_a_readme_changes_its_version_line_and_nothing_else() -> None:
    readme = "# x\n\n**Version: 0.1.0**\n\nwords\n"

    assert stamped(readme, "2.0.0") == readme.replace("0.1.0", "2.0.0")


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and an sdist of version 9.8.7, built from a copy of this tree."""
    folder = tmp_path_factory.mktemp("build")
    ignored = shutil.ignore_patterns(".git", ".venv", ".clients", "node_modules", "release", ".*_cache", "__pycache__")
    shutil.copytree(ROOT, folder / "tree", ignore=ignored)
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(folder / "tree")],
        env={**os.environ, "VERSION": "9.8.7"}, capture_output=True, text=True, timeout=800, check=True,
    )  # fmt: skip
    return folder / "dist"


@pytest.mark.slow
@pytest.mark.covers("UI-REL-4", "UI-REL-1")
def test_wheel_and_sdist_carry_what_was_built_and_the_overriding_version(artefacts: Path) -> None:
    with zipfile.ZipFile(artefacts / "ui_mcp-9.8.7-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        readme = wheel.read("ui_mcp/bundle/base/README.md").decode()
    with tarfile.open(artefacts / "ui_mcp-9.8.7.tar.gz") as sdist:
        packed = set(sdist.getnames())

    assert [name for name in CARRIED if f"ui_mcp/bundle/{name}" not in names] == []
    assert any(name.startswith("ui_mcp/bundle/web/vendor/") for name in names)
    assert version_line(readme) == "9.8.7"
    assert "ui_mcp-9.8.7/src/ui_mcp/bundle/base/html/index.html" in packed
    assert not any("node_modules" in name for name in names | packed)


@pytest.mark.slow
@pytest.mark.covers("UI-REL-4", "UI-REL-1")
def test_the_sdist_installs_and_works_where_there_is_no_node(artefacts: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=300)
    bare = {"PATH": str(environment / "bin"), "HOME": os.environ.get("HOME", "/")}
    keep = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}

    subprocess.run(
        [str(environment / "bin" / "python"), "-m", "pip", "install", "-q", str(artefacts / "ui_mcp-9.8.7.tar.gz")],
        env={**keep, **bare}, capture_output=True, timeout=800, check=True,
    )  # fmt: skip
    tried = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "smoke.py"), str(environment / "bin" / "ui-mcp")],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip

    assert tried.stdout == "works\n", tried.stderr


def install_lines() -> list[str]:
    """Return what README and documents tell people to install with pip, each line once."""
    texts = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = (line for text in texts for line in re.findall(r"pip install [^`#\n]+", text.read_text(encoding="utf-8")))
    return sorted({line.strip() for line in found if "ui_mcp" in line or line.strip().endswith(" .")})


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.covers("UI-REL-6")
@pytest.mark.parametrize("line", install_lines())
def test_every_install_line_of_the_documents_works(line: str, artefacts: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=300)
    in_clone = line.endswith(" .")
    keep = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}
    path = f"{environment / 'bin'}:{os.environ['PATH'] if in_clone else '/usr/bin:/bin'}"

    subprocess.run(
        ["/bin/sh", "-c", line.replace("VERSION", "9.8.7")],
        cwd=artefacts.parent / "tree" if in_clone else artefacts,
        env={**keep, "PATH": path, "HOME": str(tmp_path), "VERSION": "9.8.7"},
        capture_output=True, timeout=800, check=True,
    )  # fmt: skip
    tried = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "smoke.py"), str(environment / "bin" / "ui-mcp")],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip

    assert tried.stdout == "works\n", tried.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.covers("UI-REL-3", "UI-REL-6")
def test_the_executable_on_the_path_works_and_is_what_hosts_are_given(artefacts: Path, tmp_path: Path) -> None:
    assert "put the executable for your platform on your PATH" in (ROOT / "README.md").read_text(encoding="utf-8")
    wheel = installed(artefacts / "ui_mcp-9.8.7-py3-none-any.whl", tmp_path / "wheel")
    freeze(wheel, tmp_path, "ui-mcp", tmp_path / "bin")
    (tmp_path / "home/.codex").mkdir(parents=True)

    tried = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "smoke.py"), str(tmp_path / "bin/ui-mcp")],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    shown = subprocess.run(
        ["/bin/sh", "-c", "ui-mcp setup codex --dry-run"], cwd=tmp_path / "home",
        env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path / "home")},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert tried.stdout == "works\n", tried.stderr
    assert 'command = "ui-mcp"' in shown.stdout, shown.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.covers("UI-REL-6")
def test_the_line_for_uv_runs_it_and_hosts_are_given_a_command_that_lasts(artefacts: Path, tmp_path: Path) -> None:
    [line] = re.findall(r"`(uvx --from [^`]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    environment, project = tmp_path / "venv", tmp_path / "project"
    project.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=300)
    lock = ["-c", str(ROOT / "constraints.txt")]
    subprocess.run([str(environment / "bin" / "pip"), "install", "-q", *lock, "uv"], check=True, timeout=300)
    keep = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "SSL_", "HTTP", "http"))}
    own = {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never", "UV_CACHE_DIR": str(tmp_path / "cache")}
    own["UV_SYSTEM_CERTS"] = "true"  # trust what the machine trusts, as pip does
    variables = {**keep, **own, "PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    shutil.copy(artefacts / "ui_mcp-9.8.7-py3-none-any.whl", project)

    command = f"{line.replace('VERSION', '9.8.7')} --yes claude-code"
    subprocess.run(["/bin/sh", "-c", command], cwd=project, env=variables, check=True, timeout=800)
    entry = json.loads((project / ".mcp.json").read_text())["mcpServers"]["ui"]
    answer = subprocess.run(
        [entry["command"], *entry["args"][:-3], "--version"],
        cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=800, check=True,
    )  # fmt: skip

    assert entry["args"][-3:] == ["mcp", "--dir", ".ui"]
    assert answer.stdout == "ui-mcp v9.8.7\n"
