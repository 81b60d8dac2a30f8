"""The paper's Tables 1, 2 and 3 compared with ours, for any choice of datasets and strategies."""
