"""The peers' suites of tests, played to commitd and to a MariaDB beside it: README.md."""
