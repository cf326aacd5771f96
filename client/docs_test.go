package client_test

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every exported type of the library is shown in an example that go test runs.
func TestEveryTypeHasAnExample(t *testing.T) {
	const root = ".."
	packages := 0
	var missing []string
	require.NoError(t, filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || dir == root {
			return err
		}
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
		name := d.Name()
		if err == nil || name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		p, err := build.ImportDir(dir, 0)
		if err != nil || p.IsCommand() {
			return nil // a folder without a package for this system
		}
		packages++
		fset := token.NewFileSet()
		var files []*ast.File
		for _, list := range [][]string{p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles} {
			for _, name := range list {
				f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
				require.NoError(t, err)
				files = append(files, f)
			}
		}
		rel, err := filepath.Rel(root, dir)
		require.NoError(t, err)
		for _, name := range typesNotShown(t, fset, files, "github.com/memring/memring/"+filepath.ToSlash(rel)) {
			missing = append(missing, rel+": "+name)
		}
		return nil
	}))
	require.GreaterOrEqual(t, packages, 8, "the module's packages have moved away from here")
	require.Empty(t, missing, "No example shows these types. Add a func ExampleT to an example_<topic>_test.go of the type's "+
		"folder, in package <its package>_test, or use T in another example there: by its name, by a constant of it or by "+
		"a function, method or field that gives one. Only examples with an // Output comment count; the others are not run.")
}

// typesNotShown are the exported types of a package that no example with an
// Output comment is attached to, by go doc's rules (ExampleT, ExampleT_Method,
// ExampleNewT), or uses: by the type's name, a constant of it, or a function, method
// or field that gives one. Methods and fields are told by their names alone.
func typesNotShown(t *testing.T, fset *token.FileSet, files []*ast.File, path string) (missing []string) {
	local := map[string]bool{} // what the test files call the package
	for _, f := range files {
		for _, imp := range f.Imports {
			if imp.Name != nil && imp.Path.Value == strconv.Quote(path) {
				local[imp.Name.Name] = true
			}
		}
	}
	given := givers(fset, files)
	p, err := doc.NewFromFiles(fset, files, path)
	require.NoError(t, err)
	local[p.Name] = true

	used := map[string]bool{} // types, and what else of the package
	runs := func(examples []*doc.Example) (some bool) {
		for _, e := range examples {
			if e.Output == "" && !e.EmptyOutput {
				continue
			}
			some = true
			ast.Inspect(e.Code, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && local[x.Name] {
						used[s.Sel.Name] = true
					}
					for _, name := range given[s.Sel.Name] {
						used[name] = true
					}
				}
				return true
			})
		}
		return some
	}
	runs(p.Examples)
	for _, f := range p.Funcs {
		runs(f.Examples)
	}
	attached := map[string]bool{}
	for _, typ := range p.Types {
		attached[typ.Name] = runs(typ.Examples)
		for _, f := range append(typ.Funcs, typ.Methods...) {
			if runs(f.Examples) {
				attached[typ.Name] = true
			}
		}
	}
	for _, typ := range p.Types {
		shown := attached[typ.Name] || used[typ.Name]
		for _, c := range typ.Consts {
			for _, name := range c.Names {
				shown = shown || used[name]
			}
		}
		if !shown {
			missing = append(missing, typ.Name)
		}
	}
	return missing
}

// givers has, for each function, method and field of a package, the names in the
// types of what it gives.
func givers(fset *token.FileSet, files []*ast.File) map[string][]string {
	given := map[string][]string{}
	note := func(name string, list *ast.FieldList) {
		if list == nil {
			return
		}
		ast.Inspect(list, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				given[name] = append(given[name], id.Name)
			}
			return true
		})
	}
	for _, f := range files {
		if strings.HasSuffix(fset.Position(f.Pos()).Filename, "_test.go") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				note(n.Name.Name, n.Type.Results)
			case *ast.Field:
				for _, name := range n.Names {
					if fn, ok := n.Type.(*ast.FuncType); ok { // an interface's method
						note(name.Name, fn.Results)
					} else {
						note(name.Name, &ast.FieldList{List: []*ast.Field{{Type: n.Type}}})
					}
				}
			}
			return true
		})
	}
	return given
}

func TestTypesNotShown(t *testing.T) {
	fset := token.NewFileSet()
	parse := func(name, text string) *ast.File {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		require.NoError(t, err)
		return f
	}
	missing := typesNotShown(t, fset, []*ast.File{
		parse("p.go", `package p
			type Direct struct{}
			type Method struct{}
			func (*Method) Do() {}
			type Made struct{}
			func NewMade() *Made { return nil }
			type Used struct{}
			type Opened struct{ Parts []Part }
			func Open() (*Opened, error) { return nil, nil }
			func (*Opened) Walk() iter.Seq[Step] { return nil }
			func (*Opened) NotCalled() Unseen { return nil }
			type Step struct{}
			type Part struct{}
			type Unseen struct{}
			type Taken struct{}
			func (*Opened) Take(Taken) error { return nil }
			type Kind int
			const One Kind = 1
			type NotRun struct{}
			type OnlyInTest struct{}
			type Bare struct{}
			type private struct{}
		`),
		parse("example_test.go", `package p_test
			import q "example.org/p"
			func ExampleDirect() {
				_, _ = q.Used{}, q.One
				o, _ := q.Open()
				o.Walk()
				o.Take(nil)
				_ = o.Parts
				// Output:
			}
			func ExampleMethod_Do() {
				x.Bare()
				// Output: done
			}
			func ExampleNewMade() {
				// Unordered output: done
			}
			func ExampleNotRun() {}
		`),
		parse("p_test.go", `package p_test
			import q "example.org/p"
			func TestIt() { _ = q.OnlyInTest{} }
		`),
	}, "example.org/p")
	require.Equal(t, []string{"Bare", "NotRun", "OnlyInTest", "Taken", "Unseen"}, missing)
}
