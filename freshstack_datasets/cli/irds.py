"""ir_datasets' command line with FreshStack's datasets in it."""

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.wrapped import as_itself
from freshstack_datasets.errors import InputError, UnknownNameError, shown

PROGRAM = "freshstack irds"


def irds(context: typer.Context) -> None:
    """Run ir_datasets' own command line with FreshStack's datasets in it.

    Its commands are list, export, lookup, doc_fifos and the others of ir_datasets, with its options, messages and exit
    codes; --help after one of them says more. The datasets are freshstack/nimbus, freshstack/langchain (the newest
    snapshot that is known), freshstack/langchain/2024-10 and so on; what is needed of one is downloaded once.

    A judgment's iteration is the nugget's number among those of its query.
    """
    words = list(context.args)
    if words[:1] in (["--help"], ["-h"]):
        console.say(context.get_help())
        return
    with as_itself(PROGRAM, words):
        from freshstack_datasets.adapters import ir_datasets as adapter

        adapter.register()  # tells what to install where ir_datasets is missing
        import ir_datasets

        try:
            ir_datasets.main(words)
        except KeyError as error:
            (name,) = error.args or ("",)
            if name not in words or name in ir_datasets.registry:
                raise
            if "--fields" in words and name in words[words.index("--fields") :]:
                hint = "without --fields there are all, and their names are told"
                raise InputError("a field", expected="one that there is", got=shown(name), hint=hint) from error
            raise UnknownNameError("dataset", name, ir_datasets.registry) from error
