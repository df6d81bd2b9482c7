// Functions that wait, in statements that are prepared before their arguments are known.
#include "sql/testing/prepared_fixture.h"

namespace commitd::sql {
namespace {

using testing::Statement;

class WaitingFunctions : public testing::PreparedTest {};

TEST_F(WaitingFunctions, TakeParameters) {
  const Value executed = Value::string("");
  const Value never = Value::string("11111111-1111-1111-1111-111111111111:1");
  const Statement wait = prepare("SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)");
  EXPECT_EQ(execute(wait, {executed, Value::integer(60)}), "0");
  ASSERT_EQ(sink.columns.size(), 1u);
  EXPECT_EQ(sink.columns[0].type, FieldType::LongLong);
  EXPECT_EQ(execute(wait, {never, Value::real(0.01)}), "1");
  EXPECT_EQ(execute(wait, {Value::null(), Value::integer(60)}), "NULL");
  EXPECT_EQ(execute(wait, {Value::string("nonsense"), Value::integer(60)}).substr(0, 11), "ERROR 1772:");
  EXPECT_EQ(execute(wait, {executed, Value::integer(60)}), "0");
  EXPECT_EQ(execute(prepare("SELECT WAIT_FOR_EXECUTED_GTID_SET(?)"), {executed}), "0");
  EXPECT_EQ(execute(prepare("SELECT SLEEP(?), ? + 1"), {Value::real(0.001), Value::integer(1)}), "0|2");
  EXPECT_EQ(execute(prepare("SELECT GET_LOCK(?, ?)"), {Value::string("x"), Value::integer(0)}), "1");
  EXPECT_EQ(execute(prepare("SELECT 1 FROM DUAL WHERE SLEEP(?) = 0"), {Value::integer(0)}), "1");
}

}  // namespace
}  // namespace commitd::sql
