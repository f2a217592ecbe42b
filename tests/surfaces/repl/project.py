"""A small firm: its verbs, its packs and its handlers, as a project on disk and as values."""

# ruff: noqa: E501  a pack reads best as it would be written
from __future__ import annotations

from pathlib import Path

from perdure.packs.loader import Shelf, load_pack_text
from perdure.surfaces.repl.turn import Knowledge
from perdure.verbs import Catalogue, load_text

CONFIG = "store: sqlite:///firm.db\ndefinitions: [definitions]\nhandlers: [handlers]\n"

VERBS = """
entities:
  client:
    key: lei
    fields:
      lei: {type: string, required: true}
      name: {type: string, required: true}
      country: {type: string}
verbs:
  - name: client.register
    description: Register a client
    sentences: {step: "Register {name} ({lei})"}
    input_schema:
      required: [lei, name]
      properties: {lei: {type: string}, name: {type: string}, country: {type: string}}
    consequence: reviewable
    execution: {kind: sync, handler: "crud::execute", effects: store, params: {entity: client, operation: create}}
  - name: client.look
    description: Look at a client
    sentences: {step: "Look at {client}"}
    input_schema: {required: [client], properties: {client: {type: string}}}
    consequence: benign
    execution: {kind: sync, effects: none}
  - name: ubo.discover
    description: Find who owns a client
    sentences: {step: "Find the owners of {client}"}
    input_schema: {required: [client], properties: {client: {type: string}}}
    output_schema: {properties: {owners: {type: array, items: {type: string}}}}
    consequence: benign
    execution: {kind: sync, effects: none}
  - name: kyc.open-case
    description: Open a KYC case
    search_phrases: ["open a case for {client}"]
    sentences:
      step: "Open a {case_type} KYC case for {client}"
      clarify: {client: "Which client is the case for?", case_type: "What kind of case?"}
    input_schema:
      required: [client, case_type]
      properties:
        client: {type: string}
        case_type: {type: string, enum: [new-client, periodic-review, event-driven]}
        priority: {type: integer, minimum: 1, maximum: 9}
    output_schema: {required: [case_id], properties: {case_id: {type: string}}}
    consequence: requires_confirmation
    execution: {kind: sync, effects: none}
  - name: kyc.approve
    description: Approve a KYC case for good
    sentences: {step: "Approve the case {case}"}
    input_schema: {required: [case], properties: {case: {type: string}}}
    consequence: requires_authorisation
    execution: {kind: sync, effects: none}
  - name: document.request
    description: Ask a client for a document
    sentences: {step: "Ask for the {document} in case {case}"}
    input_schema: {required: [case, document], properties: {case: {type: string}, document: {type: string}}}
    output_schema: {properties: {received: {type: boolean}}}
    consequence: reviewable
    execution: {kind: durable, correlation: {key: "doc-{case}-{document}"}, policy: {timeout: P14D}}
  - name: kyc.review
    description: Review a KYC case
    sentences: {step: "Have the case of {client} reviewed"}
    input_schema: {required: [client], properties: {client: {type: string}}}
    output_schema:
      required: [approved]
      properties: {approved: {type: boolean, title: Is it approved}, comment: {type: string}}
    consequence: benign
    execution:
      kind: durable
      policy: {timeout: P14D}
      task: {title: "Review {client}", groups: [reviewers], due: P2D, four_eyes: true}
  - name: request.open
    description: Open an onboarding request
    sentences: {step: "Open an onboarding request for {client}"}
    input_schema: {required: [client], properties: {client: {type: string}}}
    output_schema: {required: [request_id], properties: {request_id: {type: string}}}
    consequence: reviewable
    execution: {kind: sync, effects: none}
  - name: request.add-product
    description: Add a product to an onboarding request
    sentences: {step: "Add {product} to the request"}
    input_schema: {required: [request, product], properties: {request: {type: string}, product: {type: string}}}
    consequence: reviewable
    execution: {kind: sync, effects: none}
  - name: book.create
    description: Create a trading book
    sentences: {step: "Create the {currency} book {name}"}
    input_schema:
      required: [name, currency]
      properties: {name: {type: string}, currency: {type: string, enum: [EUR, USD, GBP]}}
    output_schema: {required: [book_id], properties: {book_id: {type: string}}}
    consequence: reviewable
    execution: {kind: sync, effects: none}
  - name: book.set-limit
    description: Set the limit of a book
    sentences: {step: "Set the limit of the book to {limit}"}
    input_schema: {required: [book, limit], properties: {book: {type: string}, limit: {type: integer}}}
    consequence: reviewable
    execution: {kind: sync, effects: none}
  - name: book.assign-desk
    description: Give a book to a desk
    sentences: {step: "Give the book to the {desk} desk"}
    input_schema: {required: [book, desk], properties: {book: {type: string}, desk: {type: string}}}
    consequence: reviewable
    execution: {kind: sync, effects: none}
  - name: admin.delete
    description: Delete everything
    consequence: requires_authorisation
    execution: {kind: sync, effects: none}
"""

HANDLERS = '''
"""What the firm does."""

from perdure import verb


@verb("client.look")
def look(call):
    return {}


@verb("ubo.discover")
def discover(call):
    return {"owners": ["Eva Lund", "Jens Holm"]}


@verb("kyc.open-case")
def open_case(call):
    return {"case_id": "C-1"}


@verb("kyc.approve")
def approve(call):
    return {}


@verb("request.open")
def open_request(call):
    return {"request_id": "R-1"}


@verb("request.add-product")
def add_product(call):
    return {}


@verb("book.create")
def create(call):
    return {"book_id": "B-1"}


@verb("book.set-limit")
def set_limit(call):
    return {}


@verb("book.assign-desk")
def assign(call):
    return {}


@verb("admin.delete")
def delete(call):
    return {}
'''

ONBOARDING = """\
id: onboarding-request
name: Onboarding request
version: "1.0"
description: Bring a client on board with the products they want
invocation_phrases: ["onboard {client}", "open an onboarding request for {client}"]
allowed_verbs: ["request.*", "client.*"]
forbidden_verbs: ["admin.*"]
required_questions:
  - {field: client, prompt: "Which client?", answer_kind: entity_ref, entity: client}
  - {field: products, prompt: "Which products?", answer_kind: list,
     options_source: [custody, lending, fund-accounting, derivatives, reporting]}
templates:
  - template_id: request
    steps:
      - {verb: request.open, as: request, args: {client: "{answers.client}"}}
      - {verb: request.add-product, as: product, repeat_for: answers.products,
         args: {request: "{steps.request.request_id}", product: "{item}"}}
pack_summary_template: "Onboard {answers.client} with {answers.products | count} products: {answers.products | join ', '}."
section_layout:
  - {title: Request, verbs: [request.open]}
  - {title: Products, verbs: [request.add-product]}
definition_of_done: ["exists(verb == 'request.open' and status == 'completed')"]
progress_signals: [{label: Request opened, condition: "exists(verb == 'request.open' and status == 'completed')"}]
"""

BOOK = """\
id: book-setup
name: Book setup
version: "1.0"
description: Set up a trading book
invocation_phrases: ["set up a book", "create a trading book called {name}"]
allowed_verbs: ["book.*"]
required_questions:
  - {field: name, prompt: "What is the book called?"}
  - {field: currency, prompt: "In which currency?", answer_kind: enum, options_source: book.create.currency, default: EUR}
  - {field: desk, prompt: "Which desk gets it?", default: rates}
optional_questions:
  - {field: limit, prompt: "What is its limit?", answer_kind: string}
templates:
  - template_id: standard
    ordered: true
    steps:
      - {verb: book.create, as: book, args: {name: "{answers.name}", currency: "{answers.currency}"}}
      - {verb: book.set-limit, args: {book: "{steps.book.book_id}", limit: 1000000}}
      - {verb: book.assign-desk, args: {book: "{steps.book.book_id}", desk: "{answers.desk}"}}
pack_summary_template: "Set up the {answers.currency} book {answers.name} for the {answers.desk} desk."
section_layout:
  - {title: Book, verbs: ["book.*"]}
"""

KYC = """\
id: kyc-case
name: KYC case
version: "1.2"
description: Open and drive a KYC case to a decision
invocation_phrases: ["open a kyc case for {client}", "start kyc on {client}"]
allowed_verbs: ["kyc.*", "document.*", "ubo.*", "client.*"]
forbidden_verbs: ["admin.*"]
risk_policy:
  escalations:
    - {name: urgent, verbs: [kyc.open-case], when: "args.priority >= 9", tier: requires_authorisation, reason: it is urgent}
required_questions:
  - {field: client, prompt: "Which client is the case for?", answer_kind: entity_ref, entity: client}
  - {field: case_type, prompt: "New client, periodic review or event driven?",
     answer_kind: enum, options_source: kyc.open-case.case-type, default: new-client}
optional_questions:
  - {field: documents, prompt: "Any documents to ask for now?", answer_kind: list,
     ask_when: "case_type == new-client", default: [passport]}
templates:
  - template_id: full-case
    when_to_use: Default
    steps:
      - {verb: ubo.discover, args: {client: "{answers.client}"}}
      - {verb: kyc.open-case, as: case, args: {client: "{answers.client}", case-type: "{answers.case_type}"}}
      - {verb: document.request, as: document, repeat_for: answers.documents, when: "answers.documents is set",
         args: {case: "{steps.case.case_id}", document: "{item}"}}
pack_summary_template: "Open a {answers.case_type} KYC case for {answers.client} and ask for {answers.documents | count} documents."
section_layout:
  - {title: Discovery, verbs: ["ubo.*"]}
  - {title: Case, verbs: ["kyc.*"]}
  - {title: Documents, verbs: ["document.*"]}
definition_of_done: ["exists(verb == 'kyc.open-case' and status == 'completed')"]
progress_signals: [{label: Case opened, condition: "exists(verb == 'kyc.open-case' and status == 'completed')"}]
handoff_target: onboarding-request
"""

PACKS = {"onboarding-request": ONBOARDING, "book-setup": BOOK, "kyc-case": KYC}
CLIENTS = [
    ("529900K9B0N5BT694847", "Allianz SE", "DE"),
    ("OJ2TIQSVQND4IZYYK658", "Allianz Global Investors GmbH", "DE"),
    ("549300MLUDYVRQOOXS22", "Nordlys Capital A/S", "DK"),
]


def catalogue() -> Catalogue:
    return load_text(VERBS, "verbs.yaml")


def knowledge() -> Knowledge:
    return Knowledge(catalogue(), Shelf(load_pack_text(text, f"{id}.yaml") for id, text in PACKS.items()))


def make_firm(folder: Path) -> None:
    """The project on disk."""
    (folder / "perdure.yaml").write_text(CONFIG)
    (folder / "definitions").mkdir()
    (folder / "definitions" / "firm.yaml").write_text(VERBS)
    (folder / "packs").mkdir()
    for id, text in PACKS.items():
        (folder / "packs" / f"{id}.yaml").write_text(text)
    (folder / "handlers").mkdir()
    (folder / "handlers" / "__init__.py").write_text(HANDLERS)
