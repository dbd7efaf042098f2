"""From the judged pools to the snapshot: which questions are kept, and what is written of them and of their making."""
