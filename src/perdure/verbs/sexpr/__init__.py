"""S-expressions: call programs such as `(kyc.open-case :entity "Allianz" :as @case)`, read, checked and written."""

from __future__ import annotations

from perdure.verbs.sexpr.json_arguments import arguments as arguments
from perdure.verbs.sexpr.reader import read as read
from perdure.verbs.sexpr.writer import write as write
