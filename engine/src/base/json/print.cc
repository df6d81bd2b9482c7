#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include "base/decimal.h"
#include "base/json/binary.h"
#include "base/json/text.h"
#include "base/temporal.h"

namespace commitd::json {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out.push_back('\\');
        out.push_back(c);
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20)
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint8_t>(c));
        else
          out.push_back(c);
    }
  }
  out.push_back('"');
}

// A whole number shows that it is a double: 1.0.
std::string double_text(double number) {
  std::string text = Value::real(number).to_text();
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string temporal_text(Temporal t) {
  t.decimals = t.kind == Temporal::Kind::Date ? 0 : 6;
  return format_temporal(t);
}

std::string opaque_text(const Opaque& opaque) {
  return fmt::format("base64:type{}:{}", static_cast<int>(opaque.type), absl::Base64Escape(opaque.bytes));
}

class Printer {
 public:
  explicit Printer(bool pretty) : pretty_(pretty) {}

  void print(const Node& node) {
    std::visit([this](const auto& content) { put(content); }, node.content());
  }
  std::string take() { return std::move(out_); }

 private:
  void put(std::nullptr_t) { out_ += "null"; }
  void put(bool flag) { out_ += flag ? "true" : "false"; }
  void put(int64_t number) { out_ += fmt::format_int(number).str(); }
  void put(uint64_t number) { out_ += fmt::format_int(number).str(); }
  void put(double number) { out_ += double_text(number); }
  void put(const Decimal& number) { out_ += number.to_string(); }
  void put(const std::string& text) { append_quoted(out_, text); }
  void put(const Temporal& t) { append_quoted(out_, temporal_text(t)); }
  void put(const Opaque& opaque) { append_quoted(out_, opaque_text(opaque)); }
  void put(const Array& array) {
    out_.push_back('[');
    ++level_;
    bool first = true;
    for (const Node& element : array) {
      separate(first);
      print(element);
    }
    close(']', first);
  }
  void put(const Object& object) {
    out_.push_back('{');
    ++level_;
    bool first = true;
    for (const auto& [key, member] : object) {
      separate(first);
      append_quoted(out_, key);
      out_ += ": ";
      print(member);
    }
    close('}', first);
  }

  void separate(bool& first) {
    if (!first) out_ += pretty_ ? "," : ", ";
    first = false;
    new_line();
  }
  void close(char bracket, bool empty) {
    --level_;
    if (!empty) new_line();
    out_.push_back(bracket);
  }
  void new_line() {
    if (!pretty_) return;
    out_.push_back('\n');
    out_.append(2 * level_, ' ');
  }

  bool pretty_;
  size_t level_ = 0;
  std::string out_;
};

std::string printed(const Node& node, bool pretty) {
  Printer printer(pretty);
  printer.print(node);
  return printer.take();
}

}  // namespace

std::string to_text(const Node& node) {
  return printed(node, false);
}

std::string to_pretty_text(const Node& node) {
  return printed(node, true);
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

std::string unquoted_text(const Node& node) {
  if (const auto* text = node.get<std::string>()) return *text;
  if (const auto* t = node.get<Temporal>()) return temporal_text(*t);
  if (const auto* opaque = node.get<Opaque>()) return opaque_text(*opaque);
  return to_text(node);
}

std::string text_of(std::string_view binary) {
  const auto node = decode(binary);
  return node.ok() ? to_text(*node) : std::string();
}

}  // namespace commitd::json
