package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

const master = "app:p@ss:word@tcp(demo-master:3306)/shop"

func TestAServerWithoutAUserIsLoggedInToAsTheMasterIs(t *testing.T) {
	named, err := ParseNamed([]string{"one=tcp(demo-1.demo:3306)/shop", "two=root@tcp(demo-2.demo:3306)/shop"}, master)
	if err != nil || len(named) != 2 {
		t.Fatalf("%v, %v", named, err)
	}
	for i, want := range []struct{ name, user, password, address string }{
		{"one", "app", "p@ss:word", "demo-1.demo:3306"},
		{"two", "root", "", "demo-2.demo:3306"},
	} {
		config, err := mysql.ParseDSN(named[i].DSN)
		if err != nil || named[i].Name != want.name || config.User != want.user || config.Passwd != want.password ||
			config.Addr != want.address || config.DBName != "shop" {
			t.Errorf("%+v gives %+v, %v", named[i], config, err)
		}
	}
}

func TestWhatACommandLineMustNotHold(t *testing.T) {
	for text, complaint := range map[string]string{
		"one=app:secret@tcp(one:3306)/shop": ErrPassword.Error(),
		"tcp(one:3306)/shop":                "wants NAME=",
		"one=one:3306":                      "expected user@tcp(host:port)/database",
	} {
		_, err := ParseNamed([]string{text}, master)
		if err == nil || !strings.Contains(err.Error(), complaint) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseNamed([]string{"one=tcp(one:3306)/shop", "one=tcp(two:3306)/shop"}, master); err == nil {
		t.Error("a name was taken twice")
	}
	if _, err := WithoutPassword("app:secret@tcp(one:3306)/shop"); !errors.Is(err, ErrPassword) {
		t.Error(err)
	}
}
