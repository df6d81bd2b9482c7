#include "storage/federated/connection_string.h"

#include <gtest/gtest.h>

namespace commitd::storage {
namespace {

std::string shown(std::string_view text) {
  const auto table = parse_connection_string(text);
  if (!table) return "none";
  return table->user + "|" + table->password + "|" + table->host + "|" + std::to_string(table->port) + "|" +
         table->db + "|" + table->table;
}

TEST(ConnectionString, HasItsParts) {
  EXPECT_EQ(shown("mysql://joe:secret@db.example:3307/shop/orders"),
            "joe|secret|db.example|3307|shop|orders");
  EXPECT_EQ(shown("mysql://joe@db.example/shop/orders"), "joe||db.example|3306|shop|orders");
  EXPECT_EQ(shown("mysql://joe:@10.0.0.1:/shop/orders"), "joe||10.0.0.1|3306|shop|orders");
  EXPECT_EQ(shown("mysql://joe:a:b@h/d/t"), "joe|a:b|h|3306|d|t");
  EXPECT_EQ(shown("mysql://joe@/d/t"), "joe||localhost|3306|d|t");
  EXPECT_EQ(shown("mysql://@h/d/t x"), "||h|3306|d|t x");
}

TEST(ConnectionString, RefusesWhatIsNotInTheForm) {
  for (const char* text :
       {"", "name", "mysql:/joe@h/d/t", "http://joe@h/d/t", "mysql://joe.h/d/t", "mysql://joe@h/d",
        "mysql://joe@h", "mysql://joe@h/d/", "mysql://joe@h//t", "mysql://joe@h/d/t/x", "mysql://jo/e@h/d/t",
        "mysql://joe:p/w@h/d/t", "mysql://joe:p@w@h/d/t", "mysql://joe@h:0/d/t", "mysql://joe@h:65536/d/t",
        "mysql://joe@h:33x/d/t", "mysql://joe@h:-1/d/t", "mysql://joe@h/d/t@x"})
    EXPECT_EQ(shown(text), "none") << text;
}

TEST(ConnectionString, ANameIsThatOfAServer) {
  EXPECT_TRUE(names_a_server("s1"));
  EXPECT_TRUE(names_a_server("s1/orders"));
  for (const char* text : {"", "mysql://joe@h/d/t", "joe@h/d/t", "mysql://h"})
    EXPECT_FALSE(names_a_server(text)) << text;
}

}  // namespace
}  // namespace commitd::storage
