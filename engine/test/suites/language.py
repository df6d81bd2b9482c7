"""mysqltest's language: a text becomes commands, `if` and `while` with their blocks inside."""

import dataclasses
import re

# They say how answers are shown, or what a test run needs; answers here are compared as they come.
WITHOUT_MEANING = {
    "echo", "sorted_result", "vertical_results", "horizontal_results", "replace_result", "replace_regex", "replace_column", "replace_numeric_round",
    "remove_file", "remove_files_wildcard", "character_set", "result_format", "enable_prepare_warnings", "disable_prepare_warnings",
    *(f"{able}_{what}" for able in ("enable", "disable") for what in (
        "warnings", "query_log", "result_log", "info", "metadata", "abort_on_error", "parsing", "ps_protocol", "ps2_protocol", "view_protocol", "cursor_protocol",
        "connect_log", "column_names", "service_connection", "session_track_info", "rpl_parse", "reconnect", "non_blocking_api", "testcase")),
    "start_timer", "end_timer", "lowercase_result", "optimizer_trace",
}
# Programs and files beside the servers: neither of the two has what they would do.
BESIDE = {"exec", "execw", "exec_in_background", "system", "copy_file", "move_file", "mkdir", "rmdir", "chmod", "list_files", "list_files_write_file",
          "list_files_append_file", "file_exists", "cat_file", "diff_files"}
WITH_LINES = {"perl", "write_file", "append_file"}  # lines follow, up to one that is EOF or what the command names
UNDERSTOOD = {"let", "inc", "dec", "eval", "query", "query_vertical", "query_horizontal", "evalp", "if", "while", "end", "source", "error", "connect", "connection", "disconnect", "exit",
              "skip", "delimiter", "die", "send", "send_eval", "reap", "sleep", "real_sleep"}
NOT_UNDERSTOOD = {"change_user", "ping", "query_attributes", "send_quit", "shutdown_server", "sync_with_master", "save_master_pos", "sync_slave_with_master", "wait_for_slave_to_stop",
                  "ps_prepare", "ps_execute", "dirty_close", "reset_connection", "assert", "break", "continue", "force_restart", "force-restart", "force-cpdir", "output"}
COMMANDS = UNDERSTOOD | WITHOUT_MEANING | BESIDE | WITH_LINES | NOT_UNDERSTOOD


class NotUnderstood(Exception):
    """The file cannot be played; says why."""


@dataclasses.dataclass
class Command:
    name: str  # "sql" of a statement, "unknown" of a command that the runner does not have
    argument: str
    line: int
    block: list = dataclasses.field(default_factory=list)


class Reader:
    def __init__(self, text):
        self.text, self.position, self.delimiter = text, 0, ";"

    def commands(self):
        return self.block(inside=False)

    def block(self, inside):
        found = []
        while self.position < len(self.text):
            line = self.text.count("\n", 0, self.position) + 1
            rest = self.text[self.position:]
            if blank := re.match(r"\s+|#[^\n]*", rest):
                self.position += blank.end()
            elif rest.startswith("}"):
                self.position += 1
                if inside:
                    return found
                raise NotUnderstood("a closing brace without a block")
            elif opened := re.match(r"(?:--[ \t]*)?(if|while)\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\s*\{", rest):
                self.position += opened.end()
                found.append(Command(opened[1], opened[2].strip(), line, self.block(inside=True)))
            elif rest.startswith("--"):
                self.dashed(rest, line, found)
            else:
                self.undashed(line, found)
        if inside:
            raise NotUnderstood("a block without an end")
        return found

    def dashed(self, rest, line, found):
        text = rest.partition("\n")[0]
        self.position += len(text)
        if re.match(r"--\s*(if|while)\b", text):
            raise NotUnderstood("a block behind dashes")
        words = re.match(r"--\s*([A-Za-z_-]+)\s*(.*)", text)
        if words and words[1].lower() in COMMANDS:
            self.add(words[1].lower(), words[2].strip(), line, found)

    def undashed(self, line, found):
        text = self.until_delimiter().strip()
        words = re.match(r"([A-Za-z_-]+)\s*(.*)", text, re.DOTALL)
        name = words[1].lower() if words else ""
        # EXECUTE and such begin statements, too; all names of commands that do not are unlike any statement's.
        if name in COMMANDS:
            self.add(name, words[2].strip(), line, found)
        elif text:
            found.append(Command("sql", text, line))

    def add(self, name, argument, line, found):
        if name in ("send", "send_eval") and not argument.strip(self.delimiter):
            argument = self.until_delimiter().strip()
        if name in NOT_UNDERSTOOD:
            found.append(Command("unknown", name, line))
        elif name == "delimiter":
            self.delimiter = argument.removesuffix(self.delimiter).strip() or argument
        elif name in WITH_LINES:
            self.pass_over_lines(argument.removesuffix(self.delimiter).split()[0 if name == "perl" else 1:])
        elif name not in WITHOUT_MEANING | BESIDE:
            found.append(Command(name, argument, line))

    def pass_over_lines(self, words):
        end = re.compile(rf"^{re.escape(words[-1] if words else 'EOF')}[ \t]*$", re.MULTILINE)
        last = end.search(self.text, self.position)
        self.position = last.end() if last else len(self.text)

    def until_delimiter(self):
        """Delimiters in quotes and comments end nothing; quotes in a comment open nothing."""
        token = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|/\*.*?\*/|(?:\#|--\s)[^\n]*|""" + re.escape(self.delimiter) + r"|.", re.DOTALL)
        begin = self.position
        if re.match(r"echo\b", self.text[begin:begin + 8], re.IGNORECASE):  # a text, whose apostrophe opens nothing
            token = re.compile(re.escape(self.delimiter) + r"|.", re.DOTALL)
        for match in token.finditer(self.text, begin):
            if match[0] == self.delimiter:
                self.position = match.end()
                return self.text[begin:match.start()]
        self.position = len(self.text)
        return self.text[begin:]
