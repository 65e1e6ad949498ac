"""The shape of what only runs at GitHub: workflows, issue forms and the configuration of Dependabot."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

GITHUB = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [GITHUB / "ISSUE_TEMPLATE" / "bug.yml", GITHUB / "ISSUE_TEMPLATE" / "feature.yml"]
ACTION = re.compile(r"[\w.-]+/[\w./-]+@[\w./-]+")

workflow = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def jobs(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = read(file)["jobs"]
    return found


def steps(file: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(file).values() for step in job.get("steps", [])]


def commands(file: Path) -> str:
    return "\n".join(step["run"] for step in steps(file) if "run" in step)


@workflow
def test_a_workflow_says_what_it_is_for_and_may_only_read(file: Path) -> None:
    assert re.match(r"# [A-Z].*\.\nname: ", file.read_text(encoding="utf-8"))
    assert read(file)["name"] == file.stem
    assert read(file)["permissions"] == {"contents": "read"}


@workflow
def test_a_job_calls_a_workflow_or_has_a_machine_and_a_time_limit(file: Path) -> None:
    odd = [
        name for name, job in jobs(file).items()
        if not ({"runs-on", "timeout-minutes", "steps"} <= job.keys() or _is_here(job.get("uses", "")))
    ]  # fmt: skip

    assert odd == []


def _is_here(path: str) -> bool:
    return path.startswith("./.github/workflows/") and (GITHUB.parent / path).is_file()


@workflow
def test_jobs_wait_for_jobs_that_exist(file: Path) -> None:
    needed = [job.get("needs", []) for job in jobs(file).values()]
    names = {name for one in needed for name in ([one] if isinstance(one, str) else one)}

    assert names <= jobs(file).keys()


@workflow
def test_a_step_runs_a_command_or_an_action_of_a_stated_version(file: Path) -> None:
    odd = [step for step in steps(file) if ("run" in step) == bool(ACTION.fullmatch(step.get("uses", "")))]

    assert odd == []


@workflow
def test_commands_name_scripts_and_make_targets_that_exist(file: Path) -> None:
    makefile = (GITHUB.parent / "Makefile").read_text(encoding="utf-8")
    scripts = re.findall(r"(?<![\w/])(?:tree/)?((?:scripts|\.ci)/[\w.-]+)", commands(file))
    targets = re.findall(r"^(?:.*&& )?(?:\w+=\w+ )?make ([a-z]+)", commands(file), re.MULTILINE)

    assert [script for script in scripts if not (GITHUB.parent / script).is_file()] == []
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


@workflow
def test_text_that_others_choose_reaches_no_shell_line(file: Path) -> None:
    assert re.findall(r"\$\{\{.*?\}\}", commands(file)) == []


def test_only_jobs_with_an_environment_can_publish_in_our_name() -> None:
    able = {
        name: job
        for file in WORKFLOWS
        for name, job in jobs(file).items()
        if job.get("permissions", {}).get("id-token") == "write"
    }

    assert sorted(able) == ["package", "publish-site"]
    assert all(job["environment"]["name"] for job in able.values())


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_an_issue_form_has_named_fields_with_labels(file: Path) -> None:
    fields = [field for field in read(file)["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]

    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in fields)


def test_a_report_asks_for_the_doctor_the_host_and_the_system() -> None:
    assert {"doctor", "host", "system"} <= {field.get("id") for field in read(FORMS[0])["body"]}


def test_every_kind_of_dependency_is_watched_where_it_is_declared() -> None:
    watched = {
        update["package-ecosystem"]: update["directory"] for update in read(GITHUB / "dependabot.yml")["updates"]
    }

    assert watched == {"pip": "/", "npm": "/web", "github-actions": "/"}
