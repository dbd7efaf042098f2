"""What the scores of a board say: who is ahead, by how much, and whether the data can tell."""
