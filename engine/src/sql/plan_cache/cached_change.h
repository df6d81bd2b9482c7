// The plan of a prepared INSERT, UPDATE or DELETE of one table that is kept.
#pragma once

#include <memory>
#include <optional>

#include "sql/ast/statement.h"
#include "sql/bind/scope.h"
#include "sql/plan_cache/cached_plan.h"

namespace commitd::sql {

// What binding has made of a statement that changes one table: its executor's own (update.cc …).
struct BoundChange {
  virtual ~BoundChange() = default;
  Scope scope;  // the table
};

class CachedChange : public CachedPlan {
 public:
  static std::unique_ptr<CachedChange> of(const ast::Statement& statement);

  BoundChange& bound() { return *bound_; }
  void keep(const SessionState& session, std::unique_ptr<BoundChange> bound);
  void shrink();

 protected:
  using CachedPlan::CachedPlan;

 private:
  std::unique_ptr<BoundChange> bound_;
};

// What one execution goes by: the bound statement that is kept, or its own.
template <class Bound>
class ChangeBinding {
 public:
  explicit ChangeBinding(StatementContext& context)
      : context_(context), kept_(static_cast<CachedChange*>(context.kept)) {}
  ~ChangeBinding() {
    if (kept_ != nullptr) kept_->shrink();
  }
  ChangeBinding(const ChangeBinding&) = delete;

  // Whether it is kept, and the table's lock is taken; if not, it is to be bound for set().
  Task<Result<bool>> enter_kept(Privileges needed) { return enter_kept_table(context_, kept_, needed); }
  void set(std::unique_ptr<Bound> bound) {
    if (kept_ != nullptr)
      kept_->keep(context_.session, std::move(bound));
    else
      own_ = std::move(bound);
  }
  Bound* operator->() const { return kept_ != nullptr ? &static_cast<Bound&>(kept_->bound()) : own_.get(); }

 private:
  StatementContext& context_;
  CachedChange* kept_;
  std::unique_ptr<Bound> own_;
};

}  // namespace commitd::sql
