"""What differential_test.py consists of: the generator of statements, the two servers, the differences that are accepted."""
