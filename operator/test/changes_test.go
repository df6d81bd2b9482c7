package test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// changesBetween names the fields in which two objects differ, both as JSON reads them. What counts versions is left out, and elements of
// lists go by what people call them.
func changesBetween(before, after any) []string {
	return appendChanges(nil, "", before, after)
}

func appendChanges(list []string, path string, before, after any) []string {
	if reflect.DeepEqual(before, after) || path == ".metadata.managedFields" || path == ".metadata.resourceVersion" {
		return list
	}
	was, is := fieldsOf(before), fieldsOf(after)
	if was == nil || is == nil {
		return append(list, fmt.Sprintf("%s: %v -> %v", path, before, after))
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = appendChanges(list, path+"."+name, was[name], is[name])
	}
	return list
}

// fieldsOf an object, or of a list; nil for anything else.
func fieldsOf(value any) map[string]any {
	switch v := value.(type) {
	case map[string]any:
		return v
	case []any:
		elements := map[string]any{}
		for i, element := range v {
			elements[called(element, i)] = element
		}
		return elements
	}
	return nil
}

// called is how an element says what it is, or else its place.
func called(element any, place int) string {
	fields, _ := element.(map[string]any)
	for _, field := range []string{"type", "name"} {
		if name, ok := fields[field].(string); ok {
			return name
		}
	}
	return fmt.Sprint(place)
}

func TestChangesOfAnObjectAreNamed(t *testing.T) {
	condition := func(status string) any { return map[string]any{"type": "Ready", "status": status} }
	object := func(version, status string, numbers ...any) any {
		return map[string]any{
			"metadata": map[string]any{"resourceVersion": version},
			"status":   map[string]any{"conditions": []any{condition(status)}, "numbers": numbers},
		}
	}
	got := changesBetween(object("1", "True", 1.0), object("2", "False", 1.0, 2.0))
	want := []string{".status.conditions.Ready.status: True -> False", ".status.numbers.1: <nil> -> 2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
