"""Files of MariaDB's suite that are played with every run of the tests: all of each is compared, and differs only in these lines."""

THEIR_VARIABLE = "a variable of MariaDB's own"

SAMPLE = {
    "adddate_454": {},
    "bench_count_distinct": {},
    "endspace": {},
    "func_equal": {},
    "func_if": {},
    "func_int": {},
    "func_op": {},
    "func_set": {},
    "in_datetime_241": {},
    "key_primary": {},
    "negation_elimination": {},
    "null_key": {9: THEIR_VARIABLE, 291: THEIR_VARIABLE},
    "order_by_zerolength-4285": {},
}
