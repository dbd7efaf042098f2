"""HTML to text: every expectation is written by hand, as a person would lay the page out."""

import builtins
import re
import time
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.html.text import MOST_TAGS, html_to_text
from freshstack_datasets.errors import MissingExtraError

PAGES = {
    "paragraphs": ("<p>One\n  line</p>\n\n<p>Two</p>", "One line\n\nTwo"),
    "line break": ("<p>one<br>\ntwo<br/>three</p>", "one\ntwo\nthree"),
    "entities": ("<p>caf&eacute; &amp; &lt;tea&gt; &#8364;5</p>", "café & <tea> €5"),
    "emphasis": ("<p><strong>very</strong> <em>hot</em> 10<sup>6</sup> H<sub>2</sub>O</p>", "very hot 10^6 H2O"),
    "inline code": ("<p>Call <code>f( x)</code> now</p>", "Call `f( x)` now"),
    "inline code with backticks": ("<p><code>a `b` ``c`` `</code></p>", "``` a `b` ``c`` ` ```"),
    "empty inline code": ("<p>a<code></code> b</p>", "a b"),
    "code block": (
        '<p>So:</p>\n<pre class="lang-py prettyprint-override"><code>def f():\n    return  1\n\n</code></pre>\n<p>ok</p>',
        "So:\n\n```py\ndef f():\n    return  1\n\n```\n\nok",
    ),
    "code block, language on the code": (
        '<pre><code class="hljs language-c++">x\n</code></pre>',
        "```c++\nx\n```",
    ),
    "code block, language none": ('<pre class="lang-none"><code>x</code></pre>', "```\nx\n```"),
    "code block with a fence in it": ("<pre><code>```\nx\n```\n</code></pre>", "````\n```\nx\n```\n````"),
    # HTML drops one line break right behind <pre>; one behind <code> is content
    "first line break in pre": ("<pre>\n\n a</pre><pre><code>\nb</code></pre>", "```\n\n a\n```\n\n```\n\nb\n```"),
    "tags within a code block": ("<pre><code>a <b>b</b><br>c</code></pre>", "```\na b\nc\n```"),
    "blocks within a code block": (
        "<pre><div>a</div><div> b</div>c<ul><li>d</li><li>e</li></ul></pre>",
        "```\na\n b\nc\nd\ne\n```",
    ),
    "image within a code block": ('<pre>a <img src="https://i.b/c" alt="cup">\nb</pre>', "```\na cup\nb\n```"),
    "what is never shown within a code block": ("<pre>a<!-- b --><script>c</script></pre>", "```\na\n```"),
    "inline code of several lines": ("<p>So: <code>f<br>  g</code> ok</p>", "So:\n\n```\nf\n  g\n```\n\nok"),
    "pre within code": ("<code><pre>x\n  y</pre></code>", "```\nx\n  y\n```"),
    "an empty code block": ("<p>a</p><pre></pre><p>b</p>", "a\n\nb"),
    "unordered list": ("<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<p>x</p>", "- one\n- two\n\nx"),
    "ordered list": ('<ol start="9"><li>a<br>b</li><li>c</li></ol>', "9. a\n   b\n10. c"),
    "nested lists": (
        "<ul><li>one<ol><li>a</li><li>b<ul><li>deep</li></ul></li></ol></li><li>two</li></ul>",
        "- one\n  1. a\n  2. b\n     - deep\n- two",
    ),
    "loose list": ("<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>", "- a\n\n  b\n\n- c"),
    "code in a list keeps its white space": (
        "<ul><li><p>do</p><pre><code>  x\n</code></pre></li><li>then</li></ul>",
        "- do\n\n```\n  x\n```\n\n- then",
    ),
    "item that begins with code": ("<ol><li><pre><code>x</code></pre></li></ol>", "1.\n```\nx\n```"),
    "link": (
        '<p>see <a href="https://a.b/c?d=e&amp;f" rel="nofollow">the page</a>.</p>',
        "see [the page](https://a.b/c?d=e&f).",
    ),
    "link within words": ('<p>see<a href="/q/1"> it </a>now</p>', "see [it](/q/1) now"),
    "link that shows its address": ('<a href="https://a.b">https://a.b</a>', "https://a.b"),
    "link with code": ('<a href="https://a.b"><code>x</code></a>', "[`x`](https://a.b)"),
    "link to a script": ('<a href="javascript:alert(1)">x</a> <a>y</a>', "x y"),
    "link to a script in disguise": ('<a href=" java&#9;script:alert(1)">x</a>', "x"),
    "links without a scheme": (
        '<a href="b/c.html">x</a> <a href="?d=e">y</a> <a href="www.a.b">z</a> <img src="f.png" alt="cup">',
        "[x](b/c.html) [y](?d=e) [z](www.a.b) ![cup](f.png)",
    ),
    "link with spaces": ('<a href=" https://a.b/c d ">x</a>', "[x](https://a.b/c%20d)"),
    "link around paragraphs": ('<a href="https://a.b"><p>x</p><p>y</p></a>', "x\n\ny"),
    "image": (
        '<p>A <img src="https://i.b/c.png" alt="cup, \n empty"> here</p>',
        "A ![cup, empty](https://i.b/c.png) here",
    ),
    "image as data": ('<img src="data:image/png;base64,AAAA" alt="a cup">', "a cup"),
    "linked image": (
        '<a href="https://i.b/L"><img src="https://i.b/s" alt="cup"></a>',
        "[![cup](https://i.b/s)](https://i.b/L)",
    ),
    "headings": ("<h1>Big</h1><p>x</p><h3>Small <code>y</code></h3><p>z</p>", "# Big\n\nx\n\n### Small `y`\n\nz"),
    "quote": (
        "<blockquote>\n<p>a<br>b</p>\n<p>c</p>\n<ul><li>d</li></ul></blockquote><p>e</p>",
        "> a\n> b\n>\n> c\n>\n> - d\n\ne",
    ),
    "quote in quote": ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
    "rule": ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
    "table": (
        """<p>T:</p><table><thead><tr><th>cup</th><th>ml</th></tr></thead>
        <tbody><tr><td>big <b>one</b></td><td>3|4</td></tr><tr><td><p>a</p><p>b</p></td><td></td></tr></tbody></table>x""",
        "T:\n\n| cup | ml |\n| --- | --- |\n| big one | 3\\|4 |\n| a b |  |\n\nx",
    ),
    "table without head, with code and a list": (
        "<table><tr><td><pre>a\nb</pre></td><td><ul><li>c</li><li>d</li></ul></td></tr></table>",
        "| `a b` | c d |",
    ),
    "table in a table": (
        "<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table></td><td>d</td></tr></table>",
        "| a b c | d |",
    ),
    "what is never shown": ("<p>a<!-- b --><script>c</script><style>d</style></p>", "a"),
    "nothing": ("", ""),
    "only white space": ("<p> \n </p><ul><li> </li></ul><blockquote></blockquote>", ""),
    "only white space that is no ASCII": ("<p>&nbsp;</p><p>&#8203;&#xFEFF;</p>", ""),
    "plain text": ("no tags, 1 < 2", "no tags, 1 < 2"),
    "tags that are never closed": ("<p>a <b>b <ul><li>c <li>d", "a b\n\n- c\n- d"),
    "a frame set has no text": ("<frameset><frame></frameset>", ""),
}


@pytest.mark.parametrize("html, text", PAGES.values(), ids=PAGES.keys())
def test_a_page_is_laid_out_as_by_hand(html, text):
    assert html_to_text(html) == text


# HTML's own rules change these: carriage returns become line breaks, NUL is dropped
code = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1)


@given(code, st.sampled_from(["", "py", "c++"]))
@example("\n", "")
@example("```\n````", "")
@example("   ", "")
@example("\u2028\x0b \t\x85", "py")
def test_any_code_comes_back_exactly_between_its_fences(text, language):
    html = f'<p>before</p><pre class="lang-{language}"><code>{escape(text)}</code></pre><p>after</p>'
    got = re.fullmatch(r"before\n\n(`{3,})(.*?)\n(.*)\n(`{3,})\n\nafter", html_to_text(html), re.DOTALL)
    assert got
    assert got[1] == got[4]
    assert got[1] not in text
    assert got[2] == language
    assert got[3] + "\n" == text or got[3] == text


@given(st.lists(st.sampled_from(["- ", "> "]), max_size=4), code)
def test_code_keeps_its_white_space_within_lists_and_quotes(containers, text):
    opened = "".join("<ul><li>" if c == "- " else "<blockquote>" for c in containers)
    body = text if text.endswith("\n") else text + "\n"
    assert f"\n{body}```" in html_to_text(f"{opened}<pre><code>{escape(text)}</code></pre>")


TAGS = "p /p ul li /ul ol pre /pre code /code a /a table tr td /td /table blockquote h2 /h2 img br b /b svg select template"
pieces = st.sampled_from(
    [f"<{tag}>" for tag in TAGS.split(" ")] + ["<a href=http://x>", "<b a=1>", "<!--", "-->", "<", "&"]
)


@given(st.lists(pieces | st.text(st.characters(), max_size=5), max_size=60).map("".join))
@example("\ud800<p>")
def test_any_garbage_gives_text_that_can_be_written(html):
    text = html_to_text(html)
    assert text.encode().decode() == text


@pytest.mark.parametrize(
    "html, words",
    [
        ("<div>" * 20_000, 0),
        ("<blockquote>x" * 8_000, 8_000),
        ("<ul><li>x" * 8_000, 8_000),
        ("<" * 1_000_000, 0),
        ("<a" * 500_000, 0),
        ("<p>x" * 100_000, 100_000),  # more tags than are laid out: all text, no layout
        # formatting that is never closed is copied into every paragraph: 90 million elements if nobody looked
        ("".join(f"<b a={i}>" for i in range(9_000)) + "<p>x" * 10_000, 10_000),
        ("<b><i><u><s><tt>" * 3 + "<p>x" * 8_000, 8_000),
        ("<table><tr><td>x" * 3_000, 3_000),
    ],
    ids=["div", "quotes", "lists", "less-than", "open tags", "many tags", "formatting", "short formatting", "tables"],
)
def test_hostile_pages_end_quickly_with_their_words(html, words):
    start = time.process_time()
    text = html_to_text(html)
    assert time.process_time() - start < 10  # each takes less than a second; the machine may be busy
    assert text.count("x") == words


def test_a_page_with_too_many_tags_loses_only_its_tags():
    html = "<p>1 &lt; 2</p>" + "<br>" * MOST_TAGS
    assert html_to_text(html) == "1 < 2"


def test_without_selectolax_the_message_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("selectolax"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'freshstack-datasets\[build\]'"):
        html_to_text("<p>")
