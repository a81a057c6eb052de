"""Where offers come from: folders of Parquet tables, typed by their dataset.yaml and checked when they are opened."""
