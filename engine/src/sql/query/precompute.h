// What must be known before a statement's expressions are bound: results of subqueries and of functions that
// wait.
#pragma once

#include "sql/executor/statement_context.h"

namespace commitd::sql {

// Walks a tree (null pointers are skipped) and fills context.precomputed. `may_wait`: SLEEP and its like are
// allowed here.
Task<Status> precompute(StatementContext& context, const ast::Expr* tree, bool may_wait = false);

// Whether precompute() would do anything: asked first, because most statements need no coroutines for it.
bool needs_precompute(const ast::Expr* tree);

}  // namespace commitd::sql
