"""The text of a new topic file, with the comments that say what may stand in it."""

TEXT = """\
# What a benchmark is about, and which sources it is made of. python -m builders reads this file, and refuses keys that
# it does not know. What begins with # is a comment.

# What it is called. Put an organisation in front, as in acme/support, if its dataset is another's than freshstack's.
name: {name}

# What it is about, in a few words.
domain: {domain}

# Questions are taken that have any of these tags, in small or capital letters; with [] all are.
tags: {tags}

# The first and the last day on which they were asked: 2024-01-31, 2024-01 or 2024.
{first}
{last}

# Repositories, whose files become documents:
#   url      https://…, ssh://…, user@host:path, file:///…, or a path that starts in the folder of this file. A token is
#            not for here: it goes into an environment variable that is named after the host, GIT_TOKEN_GITHUB_COM.
#   name     owner/repository. The documents' ids begin with its last part, or with the alias, if there is one.
#   date     takes the last commit of that day, by the clock of UTC; instead, tag or commit (all its digits) takes that.
#   license  the licence of the files.
#   include  which files to take, by patterns as in .gitignore; all when there are none. exclude says which not to take.
{repositories}
# Documents that are in no repository: JSONL with id, title, text and url in each line, or folders of .md, .txt, .html,
# .ipynb and .pdf. A path starts in the folder of this file; the documents' ids begin with the name. license, include
# and exclude are as above.
{documents}
# How questions are chosen, besides tags and days. What is not said here counts as it stands here, and language and
# license as nothing:
#   site              the site that a dump is of.
#   answer            accepted takes questions with the answer that was accepted, best with the one of most votes.
#   min_answer_score  the least score of that answer; null takes any, also one without a score.
#   min_score         the least score of a question; null takes any.
#   language          the code of their language, such as en; that of a dump's site is known.
#   license           the licence of texts of a forum's export that do not say theirs.
# questions:
#   site: stackoverflow.com
#   answer: accepted
#   min_answer_score: 1
#   min_score: null
#   language: null
#   license: null

# Which models are asked, and with what. What is not said here is as a recipe says: python -m builders build --recipe
# takes default, paper, or a file with models and pool. All of it may be left out.
#   endpoint    a server that speaks as OpenAI's does. Its key is not for here: key_from names the variable of the
#               environment that holds it.
#   parameters  what is sent beside the prompt; null takes one away that the recipe has.
#   nuggets, sub-questions, closed-book, support, second: what is another one for this kind of call: model, parameters,
#               prompt. support takes so many documents, and tokens, into one call, in an order that depends on the seed;
#               second judges a share of the documents once more, for how far the judge agrees with itself.
# models:
#   endpoint: https://api.openai.com/v1
#   key_from: OPENAI_API_KEY
#   model: gpt-4o
#   parameters: {{temperature: 0.1, max_tokens: 2000}}
#   nuggets: {{prompt: nuggets-with-importance}}
#   support: {{documents: 20, tokens: 60000, seed: 7}}
#   second: {{share: 0.1, seed: 8}}

# Which documents are judged: of what is searched for, and by whom, the first top of each technique's lists, put together.
#   retrievers  bm25; dense:MODEL for one that sentence-transformers knows; python:module:factory for one of yours; or
#               dense with an endpoint, which is a URL, or same for that of the models.
# pool:
#   techniques: [question, sub-questions, closed-book, answer, nuggets]
#   retrievers: [bm25, {{dense: text-embedding-3-small, endpoint: same}}]
#   depth: 100
#   top: 20

# Questions that a model knows by heart may be dropped: those whose answer from memory holds so large a share of the
# nuggets' words.
# filter:
#   contamination: {{closed_book_coverage: 0.9}}
"""

MORE = """\
    # license: MIT
    # include: [docs/, "*.md"]
    # exclude: [tests/]
"""

NO_DOCUMENTS = """\
# documents:
#   - path: handbook
#     name: handbook
#     license: CC-BY-4.0
"""
