package register

import "testing"

func write(value uint64, call, ret int64) Operation {
	return Operation{Key: 1, Write: true, Value: value, Call: call, Return: ret}
}

func read(value uint64, call, ret int64) Operation {
	return Operation{Key: 1, Value: value, Call: call, Return: ret}
}

func TestHistories(t *testing.T) {
	for name, c := range map[string]struct {
		history []Operation
		right   bool
	}{
		"a row that was never written":              {[]Operation{read(0, 1, 2)}, true},
		"what was written is read":                  {[]Operation{write(7, 1, 2), read(7, 3, 4)}, true},
		"an answered write is gone":                 {[]Operation{write(7, 1, 2), read(0, 3, 4)}, false},
		"a read of an old master":                   {[]Operation{write(7, 1, 2), write(8, 3, 4), read(7, 5, 6)}, false},
		"either, while it is written":               {[]Operation{write(7, 1, 2), write(8, 3, 6), read(7, 4, 5)}, true},
		"new, then old, while it is written":        {[]Operation{write(7, 1, 2), write(8, 3, 9), read(8, 4, 5), read(7, 6, 7)}, false},
		"an unanswered write that shows later":      {[]Operation{write(7, 1, Never), read(0, 2, 3), read(7, 4, 5)}, true},
		"an unanswered write that shows and is cut": {[]Operation{write(7, 1, Never), read(7, 2, 3), read(0, 4, 5)}, false},
	} {
		result := Check(c.history)
		if right := len(result.Wrong) == 0 && len(result.Unchecked) == 0; right != c.right {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

func TestTheRowThatIsWrongIsNamed(t *testing.T) {
	wrong := read(9, 3, 4)
	wrong.Key = 2
	result := Check([]Operation{write(7, 1, 2), read(7, 3, 4), wrong})
	if result.Rows != 2 || len(result.Wrong) != 1 || result.Wrong[0] != 2 {
		t.Fatalf("%+v", result)
	}
}
