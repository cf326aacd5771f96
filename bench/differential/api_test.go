package differential

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	theirs "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	ours "github.com/memring/memring/client/gomemcache"
)

// What is written for one package's interfaces compiles with the other's.
var (
	_ ours.ServerSelector   = (*theirs.ServerList)(nil)
	_ theirs.ServerSelector = (*ours.ServerList)(nil)
	_                       = ours.Item(theirs.Item{}) // the same fields, in the same order

	_ func(...string) *ours.Client           = ours.New
	_ func(ours.ServerSelector) *ours.Client = ours.NewFromSelector
	_ error                                  = &ours.ConnectTimeoutError{}
	_ error                                  = &theirs.ConnectTimeoutError{}
	_ [ours.DefaultTimeout]struct{}          = [theirs.DefaultTimeout]struct{}{}
	_ [ours.DefaultMaxIdleConns]struct{}     = [theirs.DefaultMaxIdleConns]struct{}{}
)

// Every method and field of gomemcache's types is there, with the same type. The packages have the same name,
// so that types print alike.
func TestTypes(t *testing.T) {
	for _, pair := range [][2]any{
		{&theirs.Client{}, &ours.Client{}},
		{&theirs.ServerList{}, &ours.ServerList{}},
		{&theirs.ConnectTimeoutError{}, &ours.ConnectTimeoutError{}},
	} {
		want, got := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1])
		require.Equal(t, want.String(), got.String())
		for i := range want.NumMethod() {
			m := want.Method(i)
			mine, ok := got.MethodByName(m.Name)
			require.Truef(t, ok, "%v.%s is missing", want, m.Name)
			require.Equal(t, m.Type.String(), mine.Type.String(), m.Name)
		}
		for i := range want.Elem().NumField() {
			f := want.Elem().Field(i)
			if !f.IsExported() {
				continue
			}
			mine, ok := got.Elem().FieldByName(f.Name)
			require.Truef(t, ok, "%v.%s is missing", want, f.Name)
			require.Equal(t, f.Type.String(), mine.Type.String(), f.Name)
		}
	}
}

// Every exported name of gomemcache's is there.
func TestNames(t *testing.T) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[theirs.Client]().PkgPath()).Output()
	require.NoError(t, err)
	want, got := names(t, strings.TrimSpace(string(dir))), names(t, "../../client/gomemcache")
	require.Contains(t, want, "ErrCacheMiss")
	require.Contains(t, want, "ServerSelector")
	for name := range want {
		require.Contains(t, got, name)
	}
}

// names are the exported ones of a package, methods and fields apart.
func names(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	found := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			for _, id := range declared(d) {
				found[id.Name] = found[id.Name] || id.IsExported()
			}
		}
	}
	for name, exported := range found {
		if !exported {
			delete(found, name)
		}
	}
	return found
}

func declared(d ast.Decl) (ids []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				ids = append(ids, s.Names...)
			case *ast.TypeSpec:
				ids = append(ids, s.Name)
			}
		}
	}
	return ids
}
