"""Verbs and a pack that the tests of packs share."""

from __future__ import annotations

from perdure.packs.definition import Pack
from perdure.packs.loader import load_pack_text
from perdure.verbs import Catalogue, load_text

VERBS = """
entities:
  client:
    key: lei
    fields:
      lei: {type: string, required: true}
      name: {type: string, required: true}
verbs:
  - name: ubo.discover
    description: Find who owns an entity
    sentences: {step: "Find the owners of {entity}"}
    input_schema: {required: [entity], properties: {entity: {type: string}}}
    output_schema: {properties: {owners: {type: array}}}
    consequence: benign
    execution: {kind: sync, handler: "mock::instant_complete", effects: none}
  - name: kyc.open-case
    description: Open a KYC case and take it to a decision
    search_phrases: ["start a kyc review of {entity}"]
    sentences: {step: "Open a {case_type} KYC case for {entity}"}
    input_schema:
      required: [entity, case_type]
      properties:
        entity: {type: string}
        case_type: {type: string, enum: [new-client, periodic-review, event-driven]}
        priority: {type: integer}
    output_schema: {properties: {case_id: {type: string}}}
    consequence: requires_confirmation
    execution: {kind: durable, policy: {timeout: P14D}}
  - name: kyc.close-case
    description: Close a KYC case
    sentences: {step: "Close the case {case}"}
    input_schema: {required: [case], properties: {case: {type: string}}}
    consequence: requires_authorisation
    metadata: {preconditions: {requires_prior: [kyc.open-case]}}
    execution: {kind: sync, handler: "mock::instant_complete", effects: none}
  - name: kyc.delete
    description: Delete a KYC case
    execution: {kind: sync, handler: "mock::instant_complete", effects: none}
  - name: document.solicit
    description: Ask for a document
    sentences: {step: "Ask {entity} for a {document_type}"}
    input_schema:
      required: [entity, document_type]
      properties: {entity: {type: string}, document_type: {type: string}, case: {type: string}}
    consequence: reviewable
    execution: {kind: durable, policy: {timeout: P14D}}
"""

PACK = """\
id: kyc-case
name: KYC case
version: "1.2"
description: Open and drive a KYC case to a decision
invocation_phrases: ["open a kyc case for {entity}", "start kyc on {entity}"]
optional_context: [client_group, default_entity]
allowed_verbs: ["kyc.*", "document.*", "ubo.*"]
forbidden_verbs: ["*.delete", "admin.*"]
risk_policy:
  max_steps_without_confirm: 4
  escalations:
    - {name: urgent, verbs: ["kyc.*"], when: "args.priority >= 9", tier: requires_authorisation, reason: it is urgent}
required_questions:
  - {field: entity, prompt: "Which entity is the case for?", answer_kind: entity_ref}
  - {field: case_type, prompt: "New client, periodic review or event driven?",
     answer_kind: enum, options_source: kyc.open-case.case-type, default: new-client}
optional_questions:
  - {field: documents, prompt: "Any documents to ask for now?", answer_kind: list,
     ask_when: "case_type == new-client", default: [passport]}
stop_rules: [all_required_answered]
templates:
  - template_id: full-case
    when_to_use: Default
    steps:
      - {verb: ubo.discover, args: {entity: "{answers.entity}"}}
      - {verb: kyc.open-case, as: case, args: {entity: "{answers.entity}", case-type: "{answers.case_type}"},
         execution_mode: durable}
      - {verb: document.solicit, repeat_for: answers.documents, when: "answers.documents is set",
         args: {entity: "{answers.entity}", document-type: "{item}", case: "{steps.case.case_id}"}}
pack_summary_template: "Open a {answers.case_type} case for {answers.entity}, {answers.documents | count} documents."
section_layout:
  - {title: Discovery, verbs: ["ubo.*"]}
  - {title: Case, verbs: ["kyc.*"]}
  - {title: Documents, verbs: ["document.*"]}
definition_of_done: ["exists(verb == 'kyc.open-case' and status == 'completed')"]
progress_signals: [{label: Case opened, condition: "exists(verb == 'kyc.open-case')"}]
"""


def catalogue() -> Catalogue:
    return load_text(VERBS)


def pack(**changes: str) -> Pack:
    """The pack, with texts replaced."""
    text = PACK
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return load_pack_text(text, "kyc-case.yaml")
