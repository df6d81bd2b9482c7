package cluster

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const readme = "../../README.md"

// stated reads a number that the README states, in front of a word: of things that are counted there are several.
func stated(t *testing.T, what string) int64 {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{
		"models": `explores ([0-9,]+) models to the end`,
		"states": `models to the end, some\s+([0-9,]+) states`,
		"rules":  `\(.mutants_test.go.\):\s+([0-9,]+) rules`,
	}
	match := regexp.MustCompile(found[what]).FindSubmatch(text)
	if match == nil {
		t.Fatalf("%s states no number of %s", readme, what)
	}
	number, err := strconv.ParseInt(strings.ReplaceAll(string(match[1]), ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// checkStated holds the README and what was counted together. States are said in round figures.
func checkStated(t *testing.T, what string, counted int64) {
	t.Helper()
	said := stated(t, what)
	slack := int64(0)
	if what == "states" {
		slack = counted / 20
	}
	if said < counted-slack || said > counted+slack {
		t.Errorf("%s says %d %s, and there are %d", readme, said, what, counted)
	}
}

// smallModels are those that `make test` explores.
func smallModels() int64 {
	small := int64(0)
	for _, m := range models {
		if !m.large {
			small++
		}
	}
	return small
}

func TestTheReadmeCountsTheModels(t *testing.T) { checkStated(t, "models", smallModels()) }
