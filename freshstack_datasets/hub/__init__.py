"""Reading from the Hugging Face Hub: the only part of the package that talks to it for that."""
