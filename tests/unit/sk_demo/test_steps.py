"""How an answer is cut into chunks."""

from hypothesis import given
from hypothesis import strategies as st

from sk_demo.steps import chunks


@given(st.text())
def test_chunks_joined_are_the_text(text: str) -> None:
    assert "".join(chunks(text)) == text


@given(st.text(alphabet="ab \n", min_size=1))
def test_no_chunk_holds_two_words(text: str) -> None:
    assert all(len(chunk.split()) <= 1 for chunk in chunks(text))
