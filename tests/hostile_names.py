"""Names of columns, and for some of them others that try to become markup."""

INPUTS = ["BRAF", "KRAS", "TP53", "EGFR"]
OUTPUTS = ["MYC", "JUN", "FOS", "CCND1", "CDKN1A", "VEGFA"]
HOSTILE = {
    "BRAF": "<script>alert(1)</script>",
    "KRAS": "\"double\" & 'single' <b>",
    "TP53": "long " * 60,
    "EGFR": "emoji 🧬 <img src=x onerror=alert(2)>",
    "MYC": "</script><svg onload=alert(3)>",
    "JUN": "ж" * 300,
}
