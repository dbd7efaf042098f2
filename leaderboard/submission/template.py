"""The text of a new ``submission.yaml``, with the comments that say what may stand in it."""

TEXT = """\
{schema}# One system on one board. python -m leaderboard validate reads this file, and refuses keys that it does not know and
# values that wait to be filled in. What begins with # is a comment. Scores are not for here: they are computed from the
# run files beside this one.
schema_version: 1

# The day it is handed in, that of the folder's name.
date: {date}

# Who hands it in: contact is an e-mail address, or a page where you can be asked. Both are published.
team:
  name: {team}
  contact: {contact}
  # affiliation: University of Somewhere

# What was run:
#   kind        sparse, dense, late-interaction, hybrid, fusion, rerank, agentic or llm: that of its last step.
#   setting     inference when it searched with the question alone; oracle when it saw answers or nuggets, which makes it
#               a line of reference without a rank.
#   components  the retrievers that it is made of, as freshstack retrieve --retriever names them: bm25, dense:MODEL …
system:
  name: {name}
  kind: {kind}
  setting: {setting}
  components: {components}
  # url: https://…
  # description: what it does, in a few sentences

# Every model that took part, also those behind an interface; [] for a system without any, such as BM25:
#   revision        the commit, or the version or the day of an interface.
#   parameters      how many, as a whole number; null where that is not known.
#   license         by SPDX; LicenseRef-proprietary for a closed one, LicenseRef-NAME for one of its own; null where none
#                   is known.
#   and, where they are known: open_weights, release_date, training_cutoff (the last day of what it was trained on),
#   query_prompt, document_prompt, max_query_tokens, max_document_tokens, dimensions.
{models}
# What the models may have seen, each with yes, no or unknown: the questions, answers or judgments of this benchmark; posts
# of the forum that its questions are from.
training:
  on_benchmark: {on_benchmark}
  on_its_questions_site: {on_its_questions_site}
  datasets: {datasets}
  # statement: what else there is to say

# How to make the runs again: anybody who has this commit of this repository types this command.
reproduce:
  repository: {repository}
  commit: {commit}
  command: {command}
  # environment: pip install …
  # seed: 7

# What it ran on, such as 1 x NVIDIA A100 80 GB; null where nobody noted it.
hardware: {hardware}

# How long it takes, in milliseconds a query, after a first one that does not count; null where nobody measured it, else
# {{query_ms_p50: 12.5, query_ms_p95: 30.0, index_seconds: 60.0}}, of which the median alone is needed.
latency: null

# The licence of the run files, which are published, by SPDX.
license: {license}
"""
