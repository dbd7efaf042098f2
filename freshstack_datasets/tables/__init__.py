"""The tables of a snapshot: their columns, rows as records, digests, Parquet files, and views that read them lazily."""
