"""What somebody hands in: ``submission.yaml``, beside one run file a topic."""
