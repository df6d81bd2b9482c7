package cluster

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const conditionsDocument = "../../docs/conditions-and-events.md"

// said is what people may be shown: reasons, and the beginnings of problems.
type said struct{ reasons, problems []string }

func (s *said) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.CallExpr:
		s.call(n)
	case *ast.FuncDecl:
		if n.Name.Name == "describeIdentity" {
			ast.Inspect(n, s.identity)
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
			s.reason(n.Value)
		}
	case *ast.CompositeLit:
		if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "undecided" {
			s.reason(n.Elts[0])
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if strings.HasPrefix(name.Name, "Reason") && i < len(n.Values) {
				s.reason(n.Values[i])
			}
		}
	case *ast.AssignStmt:
		if target, ok := n.Lhs[min(1, len(n.Lhs)-1)].(*ast.SelectorExpr); ok && target.Sel.Name == "Reason" {
			s.reason(n.Rhs[min(1, len(n.Rhs)-1)])
		}
	}
	return s
}

func (s *said) call(call *ast.CallExpr) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	switch {
	case name == "condition" && len(call.Args) == 5:
		s.reason(call.Args[2])
		s.reason(call.Args[3])
	case name == "Eventf" && len(call.Args) > 3:
		s.reason(call.Args[3])
	case name == "Report" && len(call.Args) == 2:
		if text := beginning(call.Args[1]); text != "" {
			s.problems = append(s.problems, text)
		}
	}
}

func (s *said) identity(node ast.Node) bool {
	if r, ok := node.(*ast.ReturnStmt); ok {
		s.problems = append(s.problems, beginning(r.Results[0]))
	}
	return true
}

func (s *said) reason(value ast.Expr) {
	if text := beginning(value); text != "" {
		s.reasons = append(s.reasons, text)
	}
}

// beginning is the literal that a text starts with, up to what is filled in.
func beginning(value ast.Expr) string {
	switch v := value.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(v.Value)
		text, _, _ = strings.Cut(text, "%")
		return strings.TrimSpace(text)
	case *ast.BinaryExpr:
		return beginning(v.X)
	case *ast.CallExpr:
		if len(v.Args) > 0 {
			return beginning(v.Args[0])
		}
	}
	return ""
}

func whatIsSaid(t *testing.T) said {
	t.Helper()
	var all said
	for _, folder := range []string{".", "../controller"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(err, folder)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Walk(&all, file)
		}
	}
	return all
}

// TestEverythingThatIsSaidIsExplained: a person who is shown a reason or a problem finds it in the document, and the document
// explains nothing that is never said.
func TestEverythingThatIsSaidIsExplained(t *testing.T) {
	content, err := os.ReadFile(conditionsDocument)
	if err != nil {
		t.Fatal(err)
	}
	document := string(content)
	all := whatIsSaid(t)
	if len(all.reasons) < 20 || len(all.problems) < 8 {
		t.Fatalf("only %d reasons and %d problems found: the test does not see what is said", len(all.reasons), len(all.problems))
	}
	for _, reason := range all.reasons {
		if !strings.Contains(document, "`"+reason+"`") {
			t.Errorf("reason %s is not in %s", reason, conditionsDocument)
		}
	}
	for _, problem := range all.problems {
		explained := slices.ContainsFunc(strings.Split(document, "\n"), func(line string) bool {
			row, is := strings.CutPrefix(line, "| ")
			begins, _, _ := strings.Cut(row, " |")
			return is && strings.HasPrefix(problem, begins)
		})
		if !explained {
			t.Errorf("problem %q is not in %s", problem, conditionsDocument)
		}
	}
	_, events, _ := strings.Cut(document, "## Events")
	statuses := regexp.MustCompile("(?m)^\\|.*?\\| (?:True|False|Unknown) `(\\w+)`").FindAllStringSubmatch(document, -1)
	for _, found := range append(statuses, regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(events, -1)...) {
		if reason := found[1]; !slices.Contains(all.reasons, reason) && !strings.HasPrefix(reason, "Configuration") {
			t.Errorf("%s explains %s, which nobody says", conditionsDocument, reason)
		}
	}
}
