"""Verbs that programs in these tests ask for."""

from __future__ import annotations

from functools import lru_cache

from perdure.verbs import Catalogue, load_text

VERBS = """
definitions:
  Company: {type: object, required: [lei], properties: {lei: {type: string}, name: {type: string}}}
entities:
  kyc_case: {key: case_id, fields: {case_id: uuid, status: string}}
verbs:
  - name: kyc.research_gleif_hierarchy
    description: Discover a corporate hierarchy
    sentences: {step: "Look up the hierarchy of {lei}"}
    consequence: benign
    input_schema:
      required: [lei]
      properties: {lei: {type: string}, max_depth: {type: integer, default: 5, minimum: 1}}
    output_schema:
      type: object
      properties: {hierarchy: {type: array, items: {$ref: "#/definitions/Company"}}}
  - name: kyc.research_bloomberg_subsidiaries
    description: Ask Bloomberg for subsidiaries
    input_schema:
      required: [entity_identifier]
      properties: {entity_identifier: {type: string}, include_voting_shares: {type: boolean, default: true}}
  - name: kyc.research_voting_share_registry
    description: Ask the share registry
    input_schema: {required: [entities], properties: {entities: {type: array}}}
    output_schema: {type: array, items: {type: object}}
  - name: kyc.research_company_officers
    description: Ask for officers
    input_schema: {required: [entities], properties: {entities: {type: array}}}
  - name: kyc.request_client_documents
    description: Ask the client for documents
    sentences: {step: "Ask {contact_email} for {document_types}"}
    consequence: requires_confirmation
    input_schema:
      required: [case_id, document_types, contact_email]
      properties:
        case_id: {type: string}
        document_types: {type: array, items: {type: string}}
        contact_email: {type: email}
    output_schema: {type: object, properties: {documents: {type: array}}}
    execution: {kind: durable}
  - name: kyc.evaluate_ubo_completeness
    description: Decide whether enough is known
    input_schema:
      required: [hierarchy, shares, officers, client_docs]
      properties: {hierarchy: {type: object}, shares: {type: array}, officers: {}, client_docs: {type: object}}
    output_schema:
      type: object
      additionalProperties: false
      properties:
        complete: {type: boolean}
        score: {type: integer}
        verdict: {type: string, enum: [clear, unclear, refused]}
        compiled_data: {type: object, properties: {owners: {type: array, items: {type: string}}}}
        review_package: {type: object}
        gaps: {type: array, items: {type: string}}
  - name: kyc.compile_ubo_report
    description: Write the report
    sentences: {step: "Write the report of case {case_id} with {data}"}
    input_schema: {required: [case_id, data], properties: {case_id: {type: string}, data: {type: object}}}
  - name: kyc.await_compliance_review
    description: Wait for the compliance department
    input_schema:
      required: [case_id, review_package]
      properties: {case_id: {type: string}, review_package: {type: object}}
    execution: {kind: durable}
  - name: kyc.request_additional_information
    description: Ask again
    input_schema:
      required: [case_id, gaps]
      properties: {case_id: {type: string}, gaps: {type: array, items: {type: string}}}
    execution: {kind: durable}
  - name: kyc.open-case
    description: Open a case
    sentences: {step: "Open a {case_type} case for {entity}"}
    consequence: requires_authorisation
    input_schema:
      required: [entity, case_type]
      properties:
        entity: {}
        case_type: {type: string, enum: [new-client, periodic-review]}
        tags: {type: array, items: {type: string}}
        meta:
          type: object
          additionalProperties: false
          properties: {risk: {type: integer}, owner: {type: string}}
        company: {$ref: "#/definitions/Company"}
    output_schema:
      type: object
      additionalProperties: false
      required: [case_id]
      properties: {case_id: {type: string}, number: {type: integer}, state: {type: string, enum: [open, closed]}}
  - name: kyc.update_case_status
    description: Change the status of a case
    sentences: {step: "Set case {case_id} to {status}"}
    input_schema:
      required: [case_id, status]
      properties: {case_id: {type: string}, status: {type: string, enum: [open, closed]}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: kyc_case, operation: update}}
  - name: entity.ensure-company
    description: Make sure a company is known
    input_schema: {required: [name], properties: {name: {type: string}, parent: {}, country: {type: string}}}
    output_schema: {type: string}
  - name: document.find
    input_schema: {properties: {query: {type: string}}}
  - name: notice.find
    input_schema: {properties: {query: {type: string}}}
  - name: notice.send
    description: Send a notice
    sentences: {step: "Send a notice to {to}"}
    consequence: benign
    input_schema: {properties: {to: {}, count: {type: integer}}}
"""


@lru_cache
def catalogue() -> Catalogue:
    return load_text(VERBS)
