"""The security review as a list: each point with the tests that prove it, most of them beside the code they prove."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
REVIEW = {
    "DNS rebinding": [
        "security/test_doors.py::test_foreign_names_and_pages_reach_no_route",
        "httpd/test_security.py::test_only_our_own_host_names_are_served",
        "mcpd/test_streamable.py::test_foreign_hosts_and_origins_are_turned_away_on_every_path",
        "chat/test_bridge.py::test_foreign_hosts_origins_and_forms_are_refused",
    ],
    "cross-site WebSocket": [
        "security/test_doors.py::test_foreign_pages_open_no_socket",
        "httpd/test_security.py::test_a_socket_needs_our_origin_or_a_one_time_token",
    ],
    "cross-site POST and framing": [
        "httpd/test_security.py::test_a_foreign_origin_is_refused",
        "httpd/test_security.py::test_other_sites_may_link_to_pages_but_never_drain_events",
        "security/test_doors.py::test_pages_tell_browsers_to_be_careful",
    ],
    "token theft": [
        "security/test_permissions.py::test_a_servers_secrets_are_private_and_told_nowhere",
        "httpd/test_security.py::test_a_one_time_token_works_once_and_for_a_minute",
        "chat/test_tokens.py::test_a_token_is_recognised_and_its_text_is_nowhere_in_the_store",
        "chat/test_tokens.py::test_a_revoked_token_opens_nothing_also_on_open_connections",
        "security/test_visitors.py::test_an_address_alone_opens_no_session",
    ],
    "other accounts": [
        "security/test_other_accounts.py::test_another_account_gets_no_byte_from_any_listener",
        "security/test_other_accounts.py::test_a_socket_that_is_closed_already_is_not_taken_for_roots",
    ],
    "becoming the person": [
        "security/test_terminal.py::test_without_a_terminal_nothing_speaks_for_the_person",
        "security/test_terminal.py::test_links_are_shown_on_the_terminal_alone_and_let_one_browser_in",
        "interaction/test_lifecycle.py::test_the_browser_is_let_in_through_a_private_file_and_the_answer_grants_nothing",
    ],
    "cookie flags": ["security/test_doors.py::test_pages_tell_browsers_to_be_careful"],
    "path traversal": [
        "security/test_paths.py::test_no_file_route_leaves_its_folder",
        "security/test_paths.py::test_no_file_route_of_the_chat_leaves_its_folder",
        "security/test_paths.py::test_no_tool_argument_and_no_resource_leaves_the_workspace",
        "security/test_paths.py::test_a_file_argument_reaches_only_the_configured_folders",
        "resources/test_files.py::test_no_path_at_all_reaches_a_file_outside",
    ],
    "installer": [
        "installer/test_install.py::test_nothing_is_written_through_a_link_that_leaves_the_project",
        "installer/test_install.py::test_a_linked_file_is_kept_and_force_replaces_the_link_not_its_target",
        "security/test_review.py::test_nothing_unpacks_archives",
    ],
    "Lua": [
        "security/test_lua_escapes.py::test_a_known_trick_leads_nowhere",
        "lua/test_sandbox.py::test_there_is_no_way_out",
        "lua/test_sandbox.py::test_memory_is_capped_and_given_back",
        "interaction/test_bombs.py::test_the_server_outlives_every_bomb",
    ],
    "SSRF": [
        "security/test_outward.py::test_an_api_cannot_send_a_call_to_a_private_address",
        "security/test_outward.py::test_a_document_from_elsewhere_cannot_name_a_private_server",
        "security/test_outward.py::test_a_name_that_changes_its_address_is_asked_once_and_used_as_seen",
        "security/test_outward.py::test_every_spelling_of_an_inner_address_is_refused",
        "compositor/openapi/test_finding.py::test_a_document_from_the_network_reaches_neither_files_nor_other_hosts",
        "compositor/openapi/test_finding.py::test_a_redirect_to_a_private_address_is_refused",
    ],
    "prompt-shaped content": [
        "security/test_strangers.py::test_a_hostile_upstream_gets_no_say_outside_its_own_answer",
        "security/test_strangers.py::test_what_a_person_is_asked_cannot_be_dressed_up",
        "security/test_strangers.py::test_a_documents_words_stay_in_its_own_tools",
    ],
    "secrets": [
        "security/test_canaries.py::test_no_planted_secret_is_found_anywhere",
        "compositor/openapi/test_credentials.py::test_a_planted_secret_is_found_nowhere",
    ],
    "file permissions": [
        "security/test_permissions.py::test_a_servers_secrets_are_private_and_told_nowhere",
        "security/test_permissions.py::test_a_gateways_files_are_private",
        "host/test_files.py::test_the_token_is_for_its_owner_alone",
    ],
    "approvals": [
        "interaction/approvals/test_clients.py::test_an_answer_counts_only_with_our_seal_for_exactly_that_call",
        "interaction/approvals/test_clients.py::test_a_question_survives_a_kill_and_a_call_that_ran_then_is_never_repeated",
        "security/test_person_origins.py::test_every_changing_route_refuses_who_lacks_any_one_proof",
        "security/test_app_pages.py::test_an_app_in_the_persons_browser_can_answer_and_write_nothing",
        "compositor/test_approvals.py::test_of_two_people_answering_at_once_one_wins",
    ],
}


@pytest.mark.parametrize("point", REVIEW)
def test_each_point_of_the_review_has_its_tests(point: str) -> None:
    for named in REVIEW[point]:
        file, _, test = named.partition("::")
        assert re.search(rf"^(async )?def {test}\(", (TESTS / file).read_text(), re.MULTILINE), named


def test_nothing_unpacks_archives() -> None:
    """No archive, no escape from one: the day this fails, its members' paths and links need a test."""
    source = TESTS.parent / "src" / "ui_mcp"
    unpacking = re.compile(r"\b(zipfile|tarfile|shutil\.unpack_archive|pickle|yaml\.load\()")
    found = [str(file) for file in source.rglob("*.py") if unpacking.search(file.read_text(encoding="utf-8"))]

    assert found == []
