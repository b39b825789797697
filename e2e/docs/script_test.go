package docs

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// unknown stands for what is not known until a script runs: the value of a variable, or the output of a command.
const unknown = "NAME"

// command is one command of a script: the folder that it runs in, relative to the script's, and its words.
type command struct {
	dir   string
	words []string
}

// commandsOf parses a script for bash and returns its commands. A name in angle brackets, which the reader fills in, is a word. Where lines begin with
// "$ ", the others are output.
func commandsOf(script string) ([]command, error) {
	if strings.HasPrefix(script, "$ ") {
		script = strings.Join(regexp.MustCompile(`(?m)^\$ .*$`).FindAllString(script, -1), "\n")
		script = regexp.MustCompile(`(?m)^\$ `).ReplaceAllString(script, "")
	}
	script = regexp.MustCompile(`<[a-z-]+>`).ReplaceAllString(script, unknown)
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	r := reader{dir: "."}
	r.read(file)
	return r.commands, r.err
}

// reader collects the commands of a script.
type reader struct {
	dir      string
	commands []command
	err      error
}

func (r *reader) read(node syntax.Node) {
	syntax.Walk(node, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Subshell:
			dir := r.dir
			for _, statement := range node.Stmts {
				r.read(statement)
			}
			r.dir = dir
			return false
		case *syntax.CallExpr:
			r.add(node)
		}
		return true
	})
}

func (r *reader) add(call *syntax.CallExpr) {
	words, err := expand.Fields(&expand.Config{
		Env: expand.FuncEnviron(func(name string) string {
			if name == "IFS" {
				return "" // the default
			}
			return unknown
		}),
		CmdSubst: func(output io.Writer, _ *syntax.CmdSubst) error {
			_, err := io.WriteString(output, unknown)
			return err
		},
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return unknown, nil },
	}, call.Args...)
	if err != nil {
		r.err = fmt.Errorf("line %d: %w", call.Pos().Line(), err)
		return
	}
	switch {
	case len(words) == 0: // an assignment
	case words[0] == "cd" && len(words) == 2:
		r.dir = path.Join(r.dir, words[1])
	default:
		r.commands = append(r.commands, command{r.dir, words})
	}
}

func TestCommandsOf(t *testing.T) {
	for sentence, c := range map[string]struct {
		script string
		want   []command
	}{
		"variables and names to fill in":  {`make images VERSION=$VERSION KEY=<key> "A=b c" # why`, []command{{".", []string{"make", "images", "VERSION=NAME", "KEY=NAME", "A=b c"}}}},
		"braces and further lines":        {"go test ./{a,b} \\\n  -run X && ls", []command{{".", []string{"go", "test", "./a", "./b", "-run", "X"}}, {".", []string{"ls"}}}},
		"a folder, for the rest":          {"cd a/b && ls\npwd", []command{{"a/b", []string{"ls"}}, {"a/b", []string{"pwd"}}}},
		"a folder, in a subshell":         {"(cd a && ls)\npwd", []command{{"a", []string{"ls"}}, {".", []string{"pwd"}}}},
		"output below prompts":            {"$ ls -l\na (b\n$ pwd\n", []command{{".", []string{"ls", "-l"}}, {".", []string{"pwd"}}}},
		"output of other commands":        {`echo "$(cat x)" <(ls)`, []command{{".", []string{"echo", "NAME", "NAME"}}, {".", []string{"cat", "x"}}, {".", []string{"ls"}}}},
		"an assignment before a command":  {"A=1 make", []command{{".", []string{"make"}}}},
		"a loop over files, and comments": {"# x\nfor f in a-*; do cat \"$f\"; done", []command{{".", []string{"cat", "NAME"}}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := commandsOf(c.script)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	_, err := commandsOf("if true; then")
	assert.Error(t, err)
}
