"""Publishing a snapshot on the Hugging Face Hub: one commit, one tag on it, and a proof that both arrived."""
