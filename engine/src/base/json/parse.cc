#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/json/errors.h"
#include "base/json/text.h"

namespace commitd::json {
namespace {

constexpr size_t kMaxKey = 0xFFFF;

// Builds the document while rapidjson reads the text. `open_` are the containers around the next value; their
// addresses hold because only the innermost one grows.
class Builder {
 public:
  bool Null() { return add(Node()); }
  bool Bool(bool value) { return add(Node(value)); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  // Numbers come as they are written, because RapidJSON 1.1 does not read every zero and every fraction
  // right.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view number(text, size);
    if (const auto integer = whole<int64_t>(number)) return add(Node(*integer));
    if (const auto integer = whole<uint64_t>(number)) return add(Node(*integer));
    const double value = std::strtod(std::string(number).c_str(), nullptr);
    if (std::isinf(value)) return refuse(number_too_big());
    return add(Node(value));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) { return add(Node(std::string(text, size))); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (size > kMaxKey) return refuse(key_too_big());
    key_.assign(text, size);
    return true;
  }
  bool StartObject() { return enter(Node(Object())); }
  bool EndObject(rapidjson::SizeType) { return leave(); }
  bool StartArray() { return enter(Node(Array())); }
  bool EndArray(rapidjson::SizeType) { return leave(); }

  Node take() { return std::move(root_); }
  const std::optional<Error>& refusal() const { return refusal_; }

 private:
  template <class T>
  static std::optional<T> whole(std::string_view text) {
    T number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
  }
  static Error number_too_big() {
    return Error{er::kInvalidJsonText, rapidjson::GetParseError_En(rapidjson::kParseErrorNumberTooBig)};
  }
  bool refuse(Error error) {
    refusal_ = std::move(error);
    return false;
  }
  Node* place(Node node) {
    if (open_.empty()) return &(root_ = std::move(node));
    if (auto* array = open_.back()->get<Array>()) return &array->emplace_back(std::move(node));
    return &((*open_.back()->get<Object>())[key_] = std::move(node));
  }
  bool add(Node node) {
    if (open_.size() >= kMaxDepth) return refuse(too_deep());
    place(std::move(node));
    return true;
  }
  bool enter(Node node) {
    if (open_.size() >= kMaxDepth) return refuse(too_deep());
    open_.push_back(place(std::move(node)));
    return true;
  }
  bool leave() {
    open_.pop_back();
    return true;
  }

  Node root_;
  std::vector<Node*> open_;
  std::string key_;
  std::optional<Error> refusal_;
};

}  // namespace

Error TextProblem::in_column(std::string_view column) const {
  if (code != er::kInvalidJsonText) return Error{code, reason};
  return make_error(code, "Invalid JSON text: \"{}\" at position {} in value for column '{}'.", reason,
                    position, column);
}

Error TextProblem::in_argument(size_t number, std::string_view function) const {
  if (code != er::kInvalidJsonText) return Error{code, reason};
  return make_error(er::kInvalidJsonTextInParam,
                    "Invalid JSON text in argument {} to function {}: \"{}\" at position {}.", number,
                    function, reason, position);
}

std::optional<Node> parse(std::string_view text, TextProblem* problem) {
  constexpr unsigned kFlags = rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Builder builder;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  // A zero byte looks like the end to the reader.
  const bool all = stream.Tell() >= text.size();
  if (!result.IsError() && all) return builder.take();
  if (problem == nullptr) return std::nullopt;
  if (builder.refusal()) {
    *problem = {builder.refusal()->code, builder.refusal()->message, result.Offset()};
  } else {
    const auto code = result.IsError() ? result.Code() : rapidjson::kParseErrorDocumentRootNotSingular;
    *problem = {er::kInvalidJsonText, rapidjson::GetParseError_En(code),
                result.IsError() ? result.Offset() : stream.Tell()};
  }
  return std::nullopt;
}

}  // namespace commitd::json
