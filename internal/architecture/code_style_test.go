package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	longestFunction  = 100 // lines, never more
	longFunction     = 45  // lines, the 95th percentile
	longFile         = 300 // lines, the 95th percentile
	largestInterface = 5   // methods
)

// source is a Go file that somebody wrote by hand.
type source struct {
	name  string
	file  *ast.File
	lines int
	fset  *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s source) place(node ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(node.Pos()).Line)
}

func (s source) linesOf(node ast.Node) int {
	return s.fset.Position(node.End()).Line - s.fset.Position(node.Pos()).Line + 1
}

// linesOfTables counts the lines of the tables of cases in a function: as many as there are cases to tell.
func (s source) linesOfTables(f *ast.FuncDecl) int {
	lines := 0
	ast.Inspect(f, func(node ast.Node) bool {
		table, ok := node.(*ast.CompositeLit)
		if ok {
			lines += s.linesOf(table) - 1
		}
		return !ok
	})
	return lines
}

// functions lists the functions and methods of the file.
func (s source) functions() []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, declaration := range s.file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			all = append(all, f)
		}
	}
	return all
}

// readSources parses all hand-written Go files of the repository.
func readSources(t *testing.T) []source {
	t.Helper()
	var sources []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		s, err := parse(path)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(s.file) {
			sources = append(sources, s)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	return sources
}

func parse(path string) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, fmt.Errorf("parsing %s: %w", path, err)
	}
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return source{}, err
	}
	return source{name: relative, file: file, fset: fset, lines: fset.File(file.Pos()).LineCount()}, nil
}

func TestNoInitFunctions(t *testing.T) {
	for _, s := range readSources(t) {
		for _, f := range s.functions() {
			assert.False(t, f.Name.Name == "init" && f.Recv == nil, "%s: init hides what a program does", s.place(f))
		}
	}
}

func TestNoGenericNames(t *testing.T) {
	empty := regexp.MustCompile(`^(utils?|helpers?|common|misc)$`)
	for _, s := range readSources(t) {
		base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(s.name), ".go"), "_test")
		assert.NotRegexp(t, empty, base, "%s: name the file for its subject", s.name)
		assert.NotRegexp(t, empty, s.file.Name.Name, "%s: name the package for its job", s.name)
	}
}

func TestFunctionLength(t *testing.T) {
	var lengths []int
	for _, s := range readSources(t) {
		for _, f := range s.functions() {
			lines := s.linesOf(f)
			if s.isTest() {
				lines -= s.linesOfTables(f)
			} else {
				lengths = append(lengths, lines)
			}
			assert.LessOrEqual(t, lines, longestFunction, "%s: %s has too many lines", s.place(f), f.Name.Name)
		}
	}
	assert.LessOrEqual(t, percentile95(lengths), longFunction, "lines of 95%% of all functions")
}

func TestFileLength(t *testing.T) {
	var lengths []int
	for _, s := range readSources(t) {
		lengths = append(lengths, s.lines)
	}
	assert.LessOrEqual(t, percentile95(lengths), longFile, "lines of 95%% of all files")
}

func TestInterfaceSize(t *testing.T) {
	for _, s := range readSources(t) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if i, ok := node.(*ast.InterfaceType); ok {
				assert.LessOrEqual(t, len(i.Methods.List), largestInterface, "%s: split the interface", s.place(i))
			}
			return true
		})
	}
}

func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range readSources(t) {
		folder := filepath.Dir(s.name)
		documented[folder] = documented[folder] || s.file.Doc != nil && !s.isTest()
	}
	for folder, ok := range documented {
		assert.True(t, ok, "%s: no package comment", folder)
	}
}

// percentile95 returns the smallest value that 95% of all values do not exceed.
func percentile95(values []int) int {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(math.Ceil(0.95*float64(len(sorted))))-1]
}

func TestPercentile95(t *testing.T) {
	assert.Equal(t, 0, percentile95(nil))
	assert.Equal(t, 7, percentile95([]int{7}))
	hundred := make([]int, 0, 100)
	for i := range 100 {
		hundred = append(hundred, 100-i)
	}
	assert.Equal(t, 95, percentile95(hundred))
}

func TestControllers_Queue(t *testing.T) {
	controllers := 0
	for _, s := range readSources(t) {
		if s.isTest() || !strings.HasPrefix(s.name, "internal/") {
			continue
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			literal, ok := node.(*ast.CompositeLit)
			if !ok || !isSelector(literal.Type, "controller", "Options") {
				return true
			}
			controllers++
			hasQueue := slices.ContainsFunc(literal.Elts, func(element ast.Expr) bool {
				field, ok := element.(*ast.KeyValueExpr)
				if !ok {
					return false
				}
				name, ok := field.Key.(*ast.Ident)
				return ok && name.Name == "NewQueue" && isQueueOfOurs(field.Value)
			})
			assert.True(t, hasQueue, "%s: the default queue of controller-runtime may prevent the process from ending, so set NewQueue: queue.New", s.place(literal))
			return true
		})
	}
	assert.NotZero(t, controllers)
}

// isQueueOfOurs reports whether an expression is queue.New or a call of queue.Observed.
func isQueueOfOurs(expression ast.Expr) bool {
	if call, ok := expression.(*ast.CallExpr); ok {
		return isSelector(call.Fun, "queue", "Observed")
	}
	return isSelector(expression, "queue", "New")
}

func isSelector(expression ast.Expr, name, selected string) bool {
	selector, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := selector.X.(*ast.Ident)
	return ok && x.Name == name && selector.Sel.Name == selected
}
